import type { Approval, TurnSummary } from "@codexkit/daemon/client";
import type { ThreadItemOf, TranscriptEntry, TranscriptItem, TranscriptNotice } from "../feed/index.ts";

/** A line or block of the transcript. Rows with the same key are the same object, so that their DOM stays. */
export type Row =
  | { readonly kind: "turn"; readonly key: string; readonly turnId: string }
  | { readonly kind: "footer"; readonly key: string; readonly turnId: string }
  | { readonly kind: "item"; readonly key: string; readonly item: TranscriptItem }
  | {
      readonly kind: "block";
      readonly key: string;
      readonly item: TranscriptItem;
      readonly index: number;
    }
  | { readonly kind: "work"; readonly key: string; readonly items: readonly TranscriptItem[] }
  | { readonly kind: "approval"; readonly key: string; readonly approvalId: string }
  | { readonly kind: "notice"; readonly key: string; readonly notice: TranscriptNotice };

export interface RowInput {
  readonly entries: readonly TranscriptEntry[];
  readonly turns: readonly TurnSummary[];
  readonly approvals: readonly Approval[];
  /** The thread whose items are shown. If it is null (not known yet), all items are shown. */
  readonly threadId: string | null;
  /** Number of Markdown blocks of a message. */
  readonly blockCount: (item: TranscriptItem) => number;
  /** Whether older entries exist, so that the first turn may be incomplete. */
  readonly hasOlder: boolean;
}

/** Builds the rows of the transcript, in order. */
export function buildRows(input: RowInput, known: ReadonlyMap<string, Row> = new Map()): Row[] {
  const { entries, threadId, blockCount } = input;
  const turns = new Map(input.turns.map((turn) => [turn.id, turn]));
  const approvals = groupApprovals(input);
  const rows: Row[] = [];
  const push = (row: Row): void => {
    const same = known.get(row.key);
    rows.push(same && isSame(same, row) ? same : row);
  };
  let turnId: string | undefined;
  let work: TranscriptItem[] = [];

  const endWork = (): void => {
    const [first] = work;
    if (first && work.length > 1) push({ kind: "work", key: `work/${first.key}`, items: work });
    else if (first) push({ kind: "item", key: first.key, item: first });
    work = [];
  };
  const endTurn = (): void => {
    endWork();
    if (turnId === undefined) return;
    for (const { id } of approvals.byTurn.get(turnId) ?? []) {
      push({ kind: "approval", key: `approval/${id}`, approvalId: id });
    }
    if (typeof turns.get(turnId)?.endedAt === "number")
      push({ kind: "footer", key: `footer/${turnId}`, turnId });
  };

  for (const entry of entries) {
    if (entry.type === "notice") {
      if (!isShown(entry)) continue;
      endWork();
      push({ kind: "notice", key: entry.key, notice: entry });
      continue;
    }
    if (threadId !== null && entry.threadId !== threadId) continue;
    if (entry.turnId !== turnId) {
      endTurn();
      ({ turnId } = entry);
      push({ kind: "turn", key: `turn/${turnId}`, turnId });
    }
    const asked = approvals.byItem.get(entry.id) ?? [];
    if (isQuiet(entry) && asked.length === 0) {
      work.push(entry);
      continue;
    }
    if (isEmpty(entry)) continue;
    endWork();
    if (entry.kind === "agentMessage") {
      // No row until there is text, because an empty row would cost an additional layout, a frame before the text's.
      const count = blockCount(entry);
      for (let index = 0; index < count; index += 1) {
        push({ kind: "block", key: `${entry.key}#${index}`, item: entry, index });
      }
    } else push({ kind: "item", key: entry.key, item: entry });
    for (const { id } of asked) push({ kind: "approval", key: `approval/${id}`, approvalId: id });
  }
  endTurn();
  for (const { id } of approvals.others) {
    push({ kind: "approval", key: `approval/${id}`, approvalId: id });
  }
  return rows;
}

/** Places approvals after their item, else at the end of their turn, else at the end. */
function groupApprovals({ approvals, entries, threadId }: RowInput): {
  readonly byItem: ReadonlyMap<string, readonly Approval[]>;
  readonly byTurn: ReadonlyMap<string, readonly Approval[]>;
  readonly others: readonly Approval[];
} {
  const isOwn = (item: { readonly threadId: string }): boolean =>
    threadId === null || item.threadId === threadId;
  const items = entries.filter((entry): entry is TranscriptItem => entry.type === "item" && isOwn(entry));
  const itemIds = new Set(items.map(({ id }) => id));
  const turnIds = new Set(items.map(({ turnId }) => turnId));
  const byItem = new Map<string, Approval[]>();
  const byTurn = new Map<string, Approval[]>();
  const others: Approval[] = [];
  for (const approval of approvals) {
    const { itemId, turnId } = approval;
    if (itemId !== null && itemIds.has(itemId)) add(byItem, itemId, approval);
    else if (turnId !== null && turnIds.has(turnId)) add(byTurn, turnId, approval);
    else if (approval.state === "open" || approval.state === "parked") others.push(approval);
  }
  return { byItem, byTurn, others };
}

function add<Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}

/** Commands that only read, and have succeeded, are folded together. */
function isQuiet(entry: TranscriptItem): boolean {
  if (entry.kind !== "commandExecution" || entry.status !== "completed") return false;
  const { commandActions, exitCode, source } = entry.item as ThreadItemOf<"commandExecution">;
  return (
    source !== "userShell" &&
    exitCode === 0 &&
    commandActions.length > 0 &&
    commandActions.every(({ type }) => type !== "unknown")
  );
}

/** Completed reasoning without a summary has nothing to display. */
function isEmpty(entry: TranscriptItem): boolean {
  return entry.kind === "reasoning" && entry.status !== "running" && entry.text === "";
}

function isShown({ event }: TranscriptNotice): boolean {
  switch (event.type) {
    case "session.updated":
      return "settings" in event.changes || "revertedBefore" in event.changes || hasProblem(event.changes);
    // The approval itself is a row.
    case "inbox.opened":
      return false;
    default:
      return true;
  }
}

function hasProblem(changes: Readonly<Record<string, unknown>>): boolean {
  return changes["problem"] !== undefined && changes["problem"] !== null;
}

function isSame(one: Row, other: Row): boolean {
  if (one.kind !== other.kind) return false;
  if (one.kind === "item" && other.kind === "item") return one.item === other.item;
  if (one.kind === "block" && other.kind === "block") return one.item === other.item;
  if (one.kind === "notice" && other.kind === "notice") return one.notice === other.notice;
  if (one.kind === "work" && other.kind === "work") {
    return (
      one.items.length === other.items.length && one.items.every((item, index) => item === other.items[index])
    );
  }
  return true;
}
