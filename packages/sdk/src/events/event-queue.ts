import { type CodexEvent, type DiffUpdatedEvent, isTurnEnd, type ItemDeltaEvent } from "./event.ts";
import { newestText } from "./newest-text.ts";

/** Limits of one reader's unread events, far above what accumulates for a reader that keeps up. */
export interface QueueLimits {
  /** Unread events. One more drops the oldest, and a warning reports it. */
  readonly events: number;
  /** Characters of one unread delta. Beyond it the oldest are dropped, and `omitted` has their number. */
  readonly deltaCharacters: number;
}

export const QUEUE_LIMITS: QueueLimits = {
  // A turn has a few hundred events once its deltas are merged.
  events: 20_000,
  // A command with endless output must not fill the memory of a program that does not read.
  deltaCharacters: 8 * 1024 * 1024,
};

/**
 * Number of unread events from which deltas are merged with any earlier one of the same text, not only with the last
 * event.
 */
const MERGE_ALL_FROM = 256;

/**
 * Unread events of one reader. Deltas of the same text are merged while unread, so that a slow reader gets fewer and
 * larger ones: nothing is lost, no other reader waits, and the queue stays small.
 */
export class EventQueue {
  readonly #limits: QueueLimits;
  /**
   * Events from `#head` on are unread. Dropped events before it are removed an eighth at a time, because each removal
   * moves the rest.
   */
  #events: CodexEvent[] = [];
  #head = 0;
  /** Item → text → index of its last delta, for deltas that a later one may be merged with. */
  readonly #mergeable = new Map<string, Map<string, number>>();
  /** Turn → index of its unread diff. */
  readonly #diffs = new Map<string, number>();
  #dropped = 0;

  constructor(limits: QueueLimits = QUEUE_LIMITS) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#events.length - this.#head;
  }

  push(event: CodexEvent): void {
    if (event.type === "item.delta") {
      this.#pushDelta(event);
      return;
    }
    if (event.type === "diff.updated" && this.#replaceDiff(event)) return;
    this.#separate(event);
    this.#append(event);
    if (event.type === "diff.updated") this.#diffs.set(event.turnId, this.#events.length - 1);
  }

  /** Removes and returns all unread events, oldest first. */
  takeAll(): CodexEvent[] {
    const events = this.#head === 0 ? this.#events : this.#events.slice(this.#head);
    if (this.#dropped > 0) events.unshift(gap(this.#dropped));
    this.#events = [];
    this.#head = 0;
    this.#mergeable.clear();
    this.#diffs.clear();
    this.#dropped = 0;
    return events;
  }

  /** An independent queue with the same events and the same count of dropped ones. */
  copy(): EventQueue {
    const copy = new EventQueue(this.#limits);
    copy.#events = this.#events.slice(this.#head);
    copy.#dropped = this.#dropped;
    return copy;
  }

  #pushDelta(event: ItemDeltaEvent): void {
    const last = this.#events.length - 1;
    if (this.#mergeAt(last, event)) return;
    if (this.size < MERGE_ALL_FROM) {
      this.#append(event);
      return;
    }
    const item = itemKey(event.threadId, event.itemId);
    const text = `${event.turnId} ${event.kind} ${event.index ?? ""}`;
    let texts = this.#mergeable.get(item);
    const at = texts?.get(text);
    if (at !== undefined && this.#mergeAt(at, event)) return;
    this.#append(event);
    // Looked up again: appending may have dropped the oldest and cleared all indexes.
    texts = this.#mergeable.get(item);
    if (!texts) this.#mergeable.set(item, (texts = new Map()));
    texts.set(text, this.#events.length - 1);
  }

  #mergeAt(at: number, event: ItemDeltaEvent): boolean {
    const earlier = at < this.#head ? undefined : this.#events[at];
    if (earlier?.type !== "item.delta" || !isSameText(earlier, event)) return false;
    this.#events[at] = mergeDeltas(earlier, event, this.#limits.deltaCharacters);
    return true;
  }

  /** A diff covers the whole turn so far, so an unread one is replaced by the next. */
  #replaceDiff(event: DiffUpdatedEvent): boolean {
    const at = this.#diffs.get(event.turnId);
    if (at === undefined || at < this.#head) return false;
    this.#events[at] = event;
    return true;
  }

  /** Deltas after an event about an item must not be read before it. */
  #separate(event: CodexEvent): void {
    if (this.#mergeable.size === 0) return;
    if (isTurnEnd(event)) {
      this.#mergeable.clear();
      return;
    }
    const itemId = itemIdOf(event);
    if (itemId !== undefined && event.threadId !== undefined) {
      this.#mergeable.delete(itemKey(event.threadId, itemId));
    }
  }

  #append(event: CodexEvent): void {
    this.#events.push(event);
    if (this.size <= this.#limits.events) return;
    this.#head += 1;
    this.#dropped += 1;
    if (this.#head * 8 < this.#limits.events) return;
    this.#events = this.#events.slice(this.#head);
    this.#head = 0;
    // Indexes have changed. The next delta of each text, and the next diff, gets a new one.
    this.#mergeable.clear();
    this.#diffs.clear();
  }
}

function isSameText(left: ItemDeltaEvent, right: ItemDeltaEvent): boolean {
  return (
    left.itemId === right.itemId &&
    left.kind === right.kind &&
    left.index === right.index &&
    // Item IDs are unique per thread only.
    left.threadId === right.threadId &&
    left.turnId === right.turnId
  );
}

/** Returns the item ID of an event, including notifications without a dedicated event type. */
function itemIdOf(event: CodexEvent): string | undefined {
  if (event.type === "item.started" || event.type === "item.completed") return event.item.id;
  if (event.type === "unknown" || event.type === "notice") {
    const { itemId } = (event.raw.params ?? {}) as { itemId?: unknown };
    return typeof itemId === "string" ? itemId : undefined;
  }
  return "itemId" in event ? event.itemId : undefined;
}

function itemKey(threadId: string, itemId: string): string {
  return `${threadId} ${itemId}`;
}

function mergeDeltas(left: ItemDeltaEvent, right: ItemDeltaEvent, limit: number): ItemDeltaEvent {
  // Messages, unlike parts of one text, need a separator.
  const delta = left.delta + (left.kind === "tool_progress" ? "\n" : "") + right.delta;
  if (delta.length <= limit) return { ...left, delta };
  // Cuts to half the limit: cutting at every delta would copy the whole text each time.
  const kept = newestText(delta, limit >> 1);
  return { ...left, delta: kept, omitted: (left.omitted ?? 0) + delta.length - kept.length };
}

function gap(dropped: number): CodexEvent {
  return {
    type: "warning",
    kind: "gap",
    message: `The reader fell behind: the ${dropped} oldest unread events were dropped.`,
  };
}
