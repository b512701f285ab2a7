import type { AnyCommandBody, CommandBody, CommandKind } from "../api/command.ts";
import type { NewSessionEvent } from "../api/event.ts";
import type { Problem } from "../api/problem.ts";
import type { SessionChanges } from "../database/session-store.ts";
import type { DaemonTransaction, Ownership } from "../database/ownership.ts";
import type { CommandRow } from "../database/tables.ts";

export interface NewCommand<Kind extends CommandKind = CommandKind> {
  readonly sessionId: string;
  /** Idempotency key, unique per session. */
  readonly key: string;
  readonly kind: Kind;
  readonly body: CommandBody<Kind>;
  readonly by: string;
}

export type CommandResult =
  | { readonly ok: true; readonly [member: string]: unknown }
  | { readonly ok: false; readonly problem: Problem };

/** What is stored together with the result of a command. */
export interface FinishOptions {
  /** Appended before `command.finished`. */
  readonly events?: readonly NewSessionEvent[];
  readonly changes?: SessionChanges;
  readonly also?: (trx: DaemonTransaction) => Promise<void>;
}

/** A command as its owner executes it. */
export type PendingCommand = AnyCommandBody & {
  readonly id: string;
  readonly key: string;
  readonly by: string;
  /** Set if an owner has begun it: it may have reached Codex. */
  readonly startedEpoch: number | null;
};

export interface CommandStore {
  /**
   * Stores a command and the event `command.accepted`, and marks the session as ready. The same key with the same kind and body
   * returns the first row; with another one it rejects with `key_reused`. Rejects with `session_not_found` or
   * `session_deleted`.
   */
  submit<Kind extends CommandKind>(
    command: NewCommand<Kind>,
  ): Promise<{ readonly command: CommandRow; readonly isNew: boolean }>;
  get(id: string): Promise<CommandRow | undefined>;
  /** Unfinished commands in the order of execution. */
  pending(sessionId: string): Promise<readonly PendingCommand[]>;
  list(sessionId: string, options?: { readonly limit?: number }): Promise<readonly CommandRow[]>;
  /** Records that the owner is about to tell Codex, and appends `command.started`. Rejects with `fenced`. */
  begin(owner: Ownership, id: string): Promise<void>;
  /** Stores the result with `command.finished`, in one transaction. No-op if the command is finished. Rejects with `fenced`. */
  finish(owner: Ownership, id: string, result: CommandResult, options?: FinishOptions): Promise<void>;
  /** Resolves to the row when it is finished, or as it is at the timeout. Rejects when the signal aborts. */
  wait(
    id: string,
    options: { readonly timeoutMs: number; readonly signal?: AbortSignal },
  ): Promise<CommandRow>;
}

/** The stored result of a command, or undefined while it is unfinished. */
export function commandResult(row: CommandRow): CommandResult | undefined {
  return row.result === null ? undefined : (JSON.parse(row.result) as CommandResult);
}
