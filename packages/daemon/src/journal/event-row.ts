import type { EventBase, NewSessionEvent, SessionEvent } from "../api/event.ts";
import type { EventRow } from "../database/tables.ts";
import { redactTokens } from "../tokens/redact-tokens.ts";
import type { SecretMask } from "../secrets/secret-mask.ts";

/** An event as stored, without its session. */
export type StoredEvent = Omit<EventRow, "session_id">;

/** An event on its way into the store. Serialised once, when it is appended. */
export interface EncodedEvent {
  readonly event: NewSessionEvent;
  readonly turnId: string | null;
  readonly itemId: string | null;
  readonly data: string;
}

type DeltaEvent = Extract<NewSessionEvent, { readonly type: "item.delta" }>;

/** Members that have a column of their own, if they are strings. */
interface Columns {
  readonly turnId?: unknown;
  readonly itemId?: unknown;
}

/**
 * Whether the item ID of an event is inside `item`. Its column then exists only for lookups, and is not added when the event is
 * decoded.
 */
function hasItem(event: { readonly type: string }): event is { type: string; item: { id: string } } {
  return event.type === "item.started" || event.type === "item.completed";
}

/** @param mask Masks the secrets of the session's setup. */
export function encodeEvent(event: NewSessionEvent, mask?: SecretMask): EncodedEvent {
  if (event.type === "item.delta") return encodeDelta(event, mask);
  const { type: _type, turnId, itemId, ...rest } = event as NewSessionEvent & Columns;
  const kept: Record<string, unknown> = rest;
  if (turnId !== undefined && typeof turnId !== "string") kept["turnId"] = turnId;
  if (itemId !== undefined && typeof itemId !== "string") kept["itemId"] = itemId;
  const json = JSON.stringify(kept);
  const data = redactTokens(mask ? mask.json(json) : json);
  return {
    event: data === json ? event : { ...event, ...(JSON.parse(data) as object) },
    turnId: typeof turnId === "string" ? turnId : null,
    itemId: typeof itemId === "string" ? itemId : hasItem(event) ? event.item.id : null,
    data,
  };
}

/** Most events are deltas. An object with a fixed shape is serialised faster than a copy without some members. */
function encodeDelta(event: DeltaEvent, mask: SecretMask | undefined): EncodedEvent {
  const { turnId, itemId, threadId, kind, delta, index, offset, omitted, merged, mergedFrom } = event;
  const json = JSON.stringify({ threadId, kind, delta, index, offset, omitted, merged, mergedFrom });
  const data = redactTokens(mask ? mask.json(json) : json);
  return {
    event: data === json ? event : { ...event, ...(JSON.parse(data) as object) },
    turnId,
    itemId,
    data,
  };
}

/** Returns the event with its position in the journal. */
export function toEvent({ event }: EncodedEvent, { seq, epoch, at }: EventBase): SessionEvent {
  return { seq, epoch, at, ...event };
}

export function decodeEvent(row: StoredEvent): SessionEvent {
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

/** Yields the JSON of each event, built from the stored JSON without parsing it. */
export function* eventTexts(rows: readonly StoredEvent[]): Generator<{ readonly seq: number; json: string }> {
  let former: StoredEvent | undefined;
  let columns = "";
  for (const row of rows) {
    // The deltas of an item differ only in `seq` and `data`.
    if (!former || !hasSameColumns(former, row)) columns = columnsText(row);
    former = row;
    const rest = row.data === "{}" ? "}" : `,${row.data.slice(1)}`;
    yield { seq: row.seq, json: `{"seq":${row.seq}${columns}${rest}` };
  }
}

/** Whether two rows of one session differ only in `seq` and `data`. */
export function hasSameColumns(left: StoredEvent, right: StoredEvent): boolean {
  return (
    left.item_id === right.item_id &&
    left.turn_id === right.turn_id &&
    left.type === right.type &&
    left.at === right.at &&
    left.epoch === right.epoch
  );
}

function columnsText(row: StoredEvent): string {
  const turn = row.turn_id === null ? "" : `,"turnId":${JSON.stringify(row.turn_id)}`;
  const item = row.item_id === null || hasItem(row) ? "" : `,"itemId":${JSON.stringify(row.item_id)}`;
  return `,"epoch":${row.epoch},"at":${row.at},"type":${JSON.stringify(row.type)}${turn}${item}`;
}
