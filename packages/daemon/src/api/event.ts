import type { CodexEvent, TokenUsage, TurnResult } from "codexkit";
import type { Problem } from "./problem.ts";

/** Fields of every event of the journal. */
export interface EventBase {
  /** Gapless per session, starting at 1. */
  readonly seq: number;
  /** Number of the session's owner. Incremented when another daemon, or a later start of the same one, takes over the session. */
  readonly epoch: number;
  /** Milliseconds since the epoch, by the store's clock. */
  readonly at: number;
}

/** How a turn ended. Its items are separate events. `usage` is null if the end was read from the history. */
export type StoredTurnResult = Omit<TurnResult, "items" | "structured" | "usage"> & {
  readonly usage: TokenUsage | null;
};

type WithoutRaw<Event> = Event extends { readonly type: "notice" | "unknown" } ? Event : Omit<Event, "raw">;

/**
 * An event of the SDK as it is stored: without the wire message (except `notice` and `unknown`, which consist of it),
 * with errors as problems, and with the offset of each delta.
 */
type StoredCodexEvent<Event extends CodexEvent = CodexEvent> = Event extends { readonly type: "turn.failed" }
  ? Omit<WithoutRaw<Event>, "error" | "result"> & {
      readonly problem: Problem;
      readonly result: StoredTurnResult;
    }
  : Event extends { readonly type: "turn.completed" | "turn.interrupted" }
    ? Omit<WithoutRaw<Event>, "result"> & { readonly result: StoredTurnResult }
    : Event extends { readonly type: "item.delta" }
      ? WithoutRaw<Event> & {
          /** UTF-16 offset of `delta` in the text of this kind and index. */
          readonly offset: number;
          /** Several deltas were merged into this one. */
          readonly merged?: true;
          /** Sequence number of the first merged delta. `seq` is the number of the last one. */
          readonly mergedFrom?: number;
        }
      : WithoutRaw<Event>;

/** Events of the daemon. */
export type DaemonEvent =
  | { readonly type: "session.created" }
  /** Settings, name, goal, archive state or phase changed; `changes` has the new values. */
  | { readonly type: "session.updated"; readonly changes: Readonly<Record<string, unknown>> }
  | { readonly type: "session.deleted" }
  /** Another owner took over the session. */
  | {
      readonly type: "session.moved";
      readonly from: string | null;
      readonly to: string;
      readonly reason: "restart" | "node_lost" | "drain" | "request";
    }
  | {
      readonly type: "command.accepted" | "command.started";
      readonly commandId: string;
      readonly key: string;
      readonly kind: string;
    }
  | {
      readonly type: "command.finished";
      readonly commandId: string;
      readonly key: string;
      readonly kind: string;
      readonly problem?: Problem;
      readonly result?: Readonly<Record<string, unknown>>;
    }
  /** An item that was running when its app-server crashed. Its outcome is unknown. */
  | { readonly type: "item.abandoned"; readonly itemId: string; readonly turnId: string }
  /** Later events that are marked as `recovered` were read from the thread's history after a crash or a fork. */
  | { readonly type: "recovered"; readonly items: number; readonly reason: string }
  /** Events from `from` through `to` are not available. */
  | {
      readonly type: "gap";
      readonly from: number;
      readonly to: number;
      readonly reason: "retention" | "store_rewound";
    }
  | {
      readonly type:
        | "inbox.opened"
        | "inbox.answered"
        | "inbox.withdrawn"
        | "inbox.expired"
        /** No process waits for the answer any more. The approval can still be answered. */
        | "inbox.parked";
      readonly approvalId: string;
      readonly by?: string;
      readonly note?: string;
    }
  /** The answer of a parked approval was delivered to the model. */
  | {
      readonly type: "inbox.delivered";
      readonly approvalId: string;
      readonly strategy: "inject" | "rewind" | "report";
      readonly note: string;
    };

/** An event to append. The journal adds `seq`, `epoch` and `at`. */
export type NewSessionEvent = (StoredCodexEvent | DaemonEvent) & {
  /** Set if the event was read from the thread's history after a crash instead of being received live. */
  readonly recovered?: true;
};

/** An event of a session, as stored and served. */
export type SessionEvent = NewSessionEvent & EventBase;
