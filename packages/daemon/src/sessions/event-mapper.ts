import type { CodexEvent, ItemDeltaEvent, TurnEndEvent, TurnResult } from "codexkit";
import { BoundedSet } from "@codexkit/rpc/async";
import type { NewSessionEvent, StoredTurnResult } from "../api/event.ts";
import { toItemId, withItemId } from "./item-id.ts";
import { errorToProblem } from "./problems.ts";

/** Number of completed items and ended turns to remember. Only events around a reconnect can arrive twice. */
const REMEMBERED = 4_096;

/**
 * Converts the events of one session's threads to events of the journal: without wire messages, with offsets of deltas, and without
 * events that the journal already has.
 */
export class EventMapper {
  /** Lengths of the texts so far, by item, kind and index. */
  readonly #lengths = new Map<string, Map<string, number>>();
  readonly #completed = new BoundedSet<string>(REMEMBERED);
  readonly #ended = new BoundedSet<string>(REMEMBERED);
  /** Turns that were already running when the connection was made. Parts of the texts of their items may be missing. */
  readonly #joined = new Set<string>();

  /** Marks a turn whose earlier events were not received on this connection. */
  join(turnId: string): void {
    this.#joined.add(turnId);
  }

  /** Forgets running items, because the deltas of the lost connection may be missing from their texts. */
  reset(): void {
    this.#lengths.clear();
  }

  /** Marks items and turns whose end was read from the history, so that the same event is not stored again when it arrives. */
  skip({ itemIds, turnIds }: { itemIds: Iterable<string>; turnIds: Iterable<string> }): void {
    for (const itemId of itemIds) this.#completed.add(itemId);
    for (const turnId of turnIds) this.#ended.add(turnId);
  }

  /** Undefined for an event that the journal does not store. */
  map(received: CodexEvent): NewSessionEvent | undefined {
    const event = withJournalId(received);
    switch (event.type) {
      case "item.started": {
        if (this.#completed.has(event.item.id)) return undefined;
        this.#lengths.set(event.item.id, new Map());
        return withoutRaw(event);
      }
      case "item.delta":
        return this.#mapDelta(event);
      case "item.completed": {
        this.#lengths.delete(event.item.id);
        // A background command completes a second time if its turn ended first.
        if (this.#completed.has(event.item.id)) return undefined;
        this.#completed.add(event.item.id);
        return withoutRaw(event);
      }
      case "turn.completed":
      case "turn.interrupted":
      case "turn.failed":
        return this.#mapEnd(event);
      case "turn.started":
        return this.#ended.has(event.turnId) ? undefined : withoutRaw(event);
      case "notice":
      case "unknown":
        return event;
      default:
        // Removing `raw` from each member of the union gives the stored union.
        return withoutRaw(event as CodexEvent & { raw?: unknown }) as NewSessionEvent;
    }
  }

  #mapDelta(event: ItemDeltaEvent): NewSessionEvent | undefined {
    let lengths = this.#lengths.get(event.itemId);
    if (!lengths) {
      // The beginning of the text is unknown. The completed item has all of it.
      if (this.#joined.has(event.turnId) || this.#completed.has(event.itemId)) return undefined;
      this.#lengths.set(event.itemId, (lengths = new Map()));
    }
    const key = `${event.kind}:${event.index ?? 0}`;
    const offset = lengths.get(key) ?? 0;
    lengths.set(key, offset + event.delta.length);
    return { ...withoutRaw(event), offset };
  }

  #mapEnd(event: TurnEndEvent): NewSessionEvent | undefined {
    if (this.#ended.has(event.turnId)) return undefined;
    this.#ended.add(event.turnId);
    this.#joined.delete(event.turnId);
    if (event.type !== "turn.failed") return { ...withoutRaw(event), result: storedResult(event.result) };
    const { error, raw: _raw, ...rest } = event;
    return { ...rest, result: storedResult(event.result), problem: errorToProblem(error) };
  }
}

function withJournalId(event: CodexEvent): CodexEvent {
  if (event.type === "item.started" || event.type === "item.completed") {
    const item = withItemId(event.item);
    return item === event.item ? event : { ...event, item };
  }
  if (!("itemId" in event) || typeof event.itemId !== "string") return event;
  const itemId = toItemId(event.itemId);
  return itemId === event.itemId ? event : { ...event, itemId };
}

/** The items are in the journal as events of their own. */
function storedResult({ items: _items, structured: _structured, ...result }: TurnResult): StoredTurnResult {
  return result;
}

function withoutRaw<Event extends { readonly raw?: unknown }>(event: Event): Omit<Event, "raw"> {
  if (event.raw === undefined) return event;
  const { raw: _raw, ...rest } = event;
  return rest;
}
