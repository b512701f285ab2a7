import type { v2 } from "codexkit";
import type { NewSessionEvent } from "../api/event.ts";
import type { Database } from "../database.ts";
import type { ParkedApproval } from "../inbox/parked-inbox.ts";
import type { PerformedAction } from "../parking/perform.ts";

/** The members of an item that its end sets. */
type ItemEnd =
  | Partial<Extract<v2.ThreadItem, { type: "commandExecution" }>>
  | { readonly status: "declined" };

/**
 * Returns the event that ends the item of a request with the outcome of its action. When the request was parked, the item was
 * abandoned. Codex reports no end, because the daemon has performed the action.
 */
export async function endOfPerformed(
  database: Database,
  sessionId: string,
  row: ParkedApproval,
  { output, end }: PerformedAction,
): Promise<readonly NewSessionEvent[]> {
  const status = end?.exitCode === 0 ? "completed" : "failed";
  if (row.kind === "fileChange") return endItem(database, sessionId, row, { status });
  if (row.kind !== "command") return [];
  return endItem(database, sessionId, row, {
    status,
    exitCode: end?.exitCode ?? null,
    // Without a result, the output says why the command has none.
    aggregatedOutput: end?.output ?? (typeof output === "string" ? output : null),
    durationMs: end ? Math.round(end.wallMs) : null,
  });
}

/** Returns the events that end the items of commands and patches that a person has refused. */
export async function endsOfRefused(
  database: Database,
  sessionId: string,
  rows: readonly ParkedApproval[],
): Promise<readonly NewSessionEvent[]> {
  const refused = rows.filter(
    ({ kind, progress: { strategy, action, isContinued } }) =>
      (kind === "command" || kind === "fileChange") &&
      strategy === "inject" &&
      action === undefined &&
      isContinued !== true,
  );
  const events = await Promise.all(
    refused.map((row) => endItem(database, sessionId, row, { status: "declined" })),
  );
  return events.flat();
}

/** Returns no event if the item has an end, or if its start is not stored. */
async function endItem(
  { journal }: Database,
  sessionId: string,
  { item_id: itemId, turn_id: turnId, thread_id: threadId }: ParkedApproval,
  end: ItemEnd,
): Promise<readonly NewSessionEvent[]> {
  if (itemId === null || turnId === null) return [];
  const items = await journal.items(sessionId, { turnId, limit: 1_000 });
  const row = items.find(({ item_id: id }) => id === itemId);
  if (row?.status !== "abandoned") return [];
  const { events } = await journal.read(sessionId, { after: row.first_seq - 1, limit: 1 });
  const [started] = events;
  if (started?.type !== "item.started" || started.item.id !== itemId) return [];
  const item = { ...started.item, ...end } as v2.ThreadItem;
  return [{ type: "item.completed", threadId, turnId, item }];
}
