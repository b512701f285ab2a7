import type { SessionEvent } from "../api/event.ts";
import type { ItemTable, SessionTable, TurnTable } from "../database/tables.ts";
import { longestText } from "../api/item-text.ts";
import { previewItem } from "./item-preview.ts";

const PREVIEW_LENGTH = 200;

/** A change of one row of `item`. With `insert`, the row is added if it doesn't exist. */
export interface ItemChange {
  readonly itemId: string;
  readonly threadId: string;
  readonly turnId: string;
  readonly insert: Pick<ItemTable, "kind" | "first_seq"> | undefined;
  readonly set: Partial<ItemTable>;
}

export interface TurnChange {
  readonly turnId: string;
  readonly threadId: string;
  readonly insert: Pick<TurnTable, "first_seq" | "started_at"> | undefined;
  readonly set: Partial<TurnTable>;
}

/** Changes of other tables that follow from a batch of events of one session. */
export interface Projection {
  readonly items: readonly ItemChange[];
  readonly turns: readonly TurnChange[];
  readonly session: Partial<SessionTable>;
  /** Turns from which the history was removed, each with the sequence number of the event that reports it. */
  readonly reverts: readonly { readonly beforeTurnId: string; readonly seq: number }[];
  /** Whether a turn of the session's own thread has ended. */
  readonly hasTurnEnded: boolean;
}

type Item = { readonly id: string; readonly type: string } & Readonly<Record<string, unknown>>;
type Writable<Row> = { -readonly [Column in keyof Row]: Row[Column] };

/**
 * Computes the changes of a batch: the newest state of each item and turn.
 *
 * @param rootThreadId The session's thread. Events of other threads belong to its agents.
 */
export function project(events: readonly SessionEvent[], rootThreadId: string | null): Projection {
  const items = new Map<string, Writable<ItemChange>>();
  const turns = new Map<string, Writable<TurnChange>>();
  const session: Partial<SessionTable> = {};
  const reverts: { beforeTurnId: string; seq: number }[] = [];
  let hasTurnEnded = false;

  const item = (event: { threadId: string; turnId: string }, itemId: string): Writable<ItemChange> => {
    const key = `${event.threadId} ${event.turnId} ${itemId}`;
    let change = items.get(key);
    if (!change) {
      change = { itemId, threadId: event.threadId, turnId: event.turnId, insert: undefined, set: {} };
      items.set(key, change);
    }
    return change;
  };
  const turn = (event: { threadId: string; turnId: string }): Writable<TurnChange> => {
    let change = turns.get(event.turnId);
    if (!change) {
      change = { turnId: event.turnId, threadId: event.threadId, insert: undefined, set: {} };
      turns.set(event.turnId, change);
    }
    return change;
  };

  for (const event of events) {
    const { seq } = event;
    switch (event.type) {
      case "turn.started": {
        const change = turn(event);
        change.insert ??= { first_seq: seq, started_at: event.at };
        Object.assign(change.set, { last_seq: seq, status: "running" });
        if (isRoot(event.threadId)) {
          session.active_turn_id = event.turnId;
          session.phase = "running";
        }
        break;
      }
      case "turn.completed":
      case "turn.failed":
      case "turn.interrupted": {
        const change = turn(event);
        change.insert ??= { first_seq: seq, started_at: event.at };
        const status = event.type.slice("turn.".length) as TurnTable["status"];
        Object.assign(change.set, { last_seq: seq, status, ended_at: event.at });
        if (isRoot(event.threadId)) {
          session.active_turn_id = null;
          session.phase = "idle";
          hasTurnEnded = true;
        }
        break;
      }
      case "item.started": {
        const change = item(event, event.item.id);
        change.insert ??= { kind: event.item.type, first_seq: seq };
        Object.assign(change.set, itemState(event.item as Item, "running"), { last_seq: seq });
        describe(event, event.item);
        break;
      }
      case "item.completed": {
        const change = item(event, event.item.id);
        change.insert ??= { kind: event.item.type, first_seq: seq };
        const state = itemState(event.item, endStatus(event.item));
        Object.assign(change.set, state, { last_seq: seq, completed_seq: seq });
        describe(event, event.item);
        break;
      }
      // Deltas change no row, because the text of a running item is read from the events.
      case "item.abandoned": {
        // The event has no thread ID, so the update finds the item by its turn.
        const change = item({ threadId: "", turnId: event.turnId }, event.itemId);
        Object.assign(change.set, { last_seq: seq, status: "abandoned" });
        break;
      }
      case "usage.updated":
        turn(event).set.usage = JSON.stringify(event.usage);
        if (isRoot(event.threadId)) session.usage = JSON.stringify(event.total);
        break;
      case "diff.updated":
        turn(event).set.diff_stat = JSON.stringify(diffStat(event.diff));
        break;
      case "session.updated": {
        const beforeTurnId = event.changes["revertedBefore"];
        if (typeof beforeTurnId === "string") reverts.push({ beforeTurnId, seq });
        break;
      }
      default:
    }
  }
  return { items: [...items.values()], turns: [...turns.values()], reverts, session, hasTurnEnded };

  function isRoot(threadId: string): boolean {
    return rootThreadId === null || threadId === rootThreadId;
  }

  function describe(event: { threadId: string; turnId: string }, value: Item): void {
    if (value.type !== "userMessage" && value.type !== "agentMessage") return;
    const line = firstLine(value);
    if (line === "") return;
    if (value.type === "userMessage") turn(event).set.title ??= line;
    if (isRoot(event.threadId)) session.preview = line;
  }
}

function itemState(item: Item, status: ItemTable["status"]): Partial<ItemTable> {
  return {
    kind: item.type,
    status,
    preview: JSON.stringify(previewItem(item)),
    body_length: longestText(item).length,
  };
}

/** Commands, patches and tool calls end as `failed` or `declined`; other items have no status. */
function endStatus(item: Item): "completed" | "failed" {
  return item["status"] === "failed" || item["status"] === "declined" ? "failed" : "completed";
}

function firstLine(item: Item): string {
  const text =
    item.type === "agentMessage"
      ? (item["text"] as string)
      : (item["content"] as readonly { type: string; text?: string }[])
          .map((part) => (part.type === "text" ? (part.text ?? "") : ""))
          .join(" ");
  const line = text.trimStart().split("\n", 1)[0] ?? "";
  // For the same preview in both stores: Postgres allows no NUL in text.
  return line.slice(0, PREVIEW_LENGTH).toWellFormed().replaceAll("\0", "");
}

export function diffStat(diff: string): { files: number; added: number; removed: number } {
  const stat = { files: 0, added: 0, removed: 0 };
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) stat.files += 1;
    else if (line.startsWith("+") && !line.startsWith("+++ ")) stat.added += 1;
    else if (line.startsWith("-") && !line.startsWith("--- ")) stat.removed += 1;
  }
  return stat;
}
