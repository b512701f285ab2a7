import type { NewSessionEvent, SessionEvent } from "../api/event.ts";
import type { EventRow } from "../database/tables.ts";

/** An event on its way into the store. Serialised once, when it is appended. */
export interface EncodedEvent {
  readonly event: NewSessionEvent;
  readonly turnId: string | null;
  readonly itemId: string | null;
  readonly data: string;
}

/** Members that have a column of their own, if they are strings. */
interface Columns {
  readonly turnId?: unknown;
  readonly itemId?: unknown;
}

/** Types whose item ID is inside `item`. Their column is for lookups and is not restored. */
function hasItem(event: { readonly type: string }): event is { type: string; item: { id: string } } {
  return event.type === "item.started" || event.type === "item.completed";
}

export function encodeEvent(event: NewSessionEvent): EncodedEvent {
  const { type: _type, turnId, itemId, ...rest } = event as NewSessionEvent & Columns;
  const kept: Record<string, unknown> = rest;
  if (turnId !== undefined && typeof turnId !== "string") kept["turnId"] = turnId;
  if (itemId !== undefined && typeof itemId !== "string") kept["itemId"] = itemId;
  return {
    event,
    turnId: typeof turnId === "string" ? turnId : null,
    itemId: typeof itemId === "string" ? itemId : hasItem(event) ? event.item.id : null,
    data: JSON.stringify(kept),
  };
}

export function decodeEvent(row: Omit<EventRow, "session_id">): SessionEvent {
  const event: Record<string, unknown> = {
    seq: row.seq,
    epoch: row.epoch,
    at: row.at,
    type: row.type,
    ...(JSON.parse(row.data) as Record<string, unknown>),
  };
  if (row.turn_id !== null) event["turnId"] = row.turn_id;
  if (row.item_id !== null && !hasItem(row)) event["itemId"] = row.item_id;
  return event as unknown as SessionEvent;
}
