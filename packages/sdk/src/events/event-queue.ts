import { type CodexEvent, type DiffUpdatedEvent, isTurnEnd, type ItemDeltaEvent } from "./event.ts";
import { newestText } from "./newest-text.ts";

/** What one reader may leave unread. Each is far above what a reader that keeps up ever has. */
export interface QueueLimits {
  /** Events; one more drops the oldest, and a warning says so. */
  readonly events: number;
  /** Characters of one delta that no reader took yet; beyond it the oldest are dropped, and `omitted` says how many. */
  readonly deltaCharacters: number;
}

export const QUEUE_LIMITS: QueueLimits = {
  // A turn has a few hundred events once its deltas are joined.
  events: 20_000,
  // A command that prints without end must not fill the memory of a program that does not look.
  deltaCharacters: 8 * 1024 * 1024,
};

/** From this many unread events on, deltas are joined with an earlier one of their text, not only with the last event. */
const CROWDED = 256;

/**
 * The events that one reader has not read yet. Deltas of one text are joined while they wait, so that a reader that falls
 * behind gets fewer and larger ones: it loses nothing, holds up nobody, and the queue stays small.
 */
export class EventQueue {
  readonly #limits: QueueLimits;
  /** Unread from `#head` on; what was dropped before it is cut off an eighth at a time: each cut moves all the rest. */
  #events: CodexEvent[] = [];
  #head = 0;
  /** Item → its texts → where their last delta is, for the deltas that a later one may join. */
  readonly #joinable = new Map<string, Map<string, number>>();
  /** Turn → where its unread diff is. */
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
    if (event.type === "diff.updated" && this.#renewDiff(event)) return;
    this.#separate(event);
    this.#append(event);
    if (event.type === "diff.updated") this.#diffs.set(event.turnId, this.#events.length - 1);
  }

  /** Everything unread, oldest first; the queue is empty after. */
  takeAll(): CodexEvent[] {
    const events = this.#head === 0 ? this.#events : this.#events.slice(this.#head);
    if (this.#dropped > 0) events.unshift(gap(this.#dropped));
    this.#events = [];
    this.#head = 0;
    this.#joinable.clear();
    this.#diffs.clear();
    this.#dropped = 0;
    return events;
  }

  /** A queue of its own with the same events, and with what is known of those that were dropped. */
  copy(): EventQueue {
    const copy = new EventQueue(this.#limits);
    copy.#events = this.#events.slice(this.#head);
    copy.#dropped = this.#dropped;
    return copy;
  }

  #pushDelta(event: ItemDeltaEvent): void {
    const last = this.#events.length - 1;
    if (this.#joinAt(last, event)) return;
    if (this.size < CROWDED) {
      this.#append(event);
      return;
    }
    const item = itemKey(event.threadId, event.itemId);
    const text = `${event.turnId} ${event.kind} ${event.index ?? ""}`;
    let texts = this.#joinable.get(item);
    const at = texts?.get(text);
    if (at !== undefined && this.#joinAt(at, event)) return;
    this.#append(event);
    // Looked up again: appending may have dropped the oldest and with it every place.
    texts = this.#joinable.get(item);
    if (!texts) this.#joinable.set(item, (texts = new Map()));
    texts.set(text, this.#events.length - 1);
  }

  #joinAt(at: number, event: ItemDeltaEvent): boolean {
    const earlier = at < this.#head ? undefined : this.#events[at];
    if (earlier?.type !== "item.delta" || !isSameText(earlier, event)) return false;
    this.#events[at] = join(earlier, event, this.#limits.deltaCharacters);
    return true;
  }

  /** A diff is that of the whole turn so far: one that nobody read yet is renewed, not kept beside the newer one. */
  #renewDiff(event: DiffUpdatedEvent): boolean {
    const at = this.#diffs.get(event.turnId);
    if (at === undefined || at < this.#head) return false;
    this.#events[at] = event;
    return true;
  }

  /** What comes after an event about an item must not be read before it. */
  #separate(event: CodexEvent): void {
    if (this.#joinable.size === 0) return;
    if (isTurnEnd(event)) {
      this.#joinable.clear();
      return;
    }
    const itemId = itemIdOf(event);
    if (itemId !== undefined && event.threadId !== undefined) {
      this.#joinable.delete(itemKey(event.threadId, itemId));
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
    // Places have moved; the next delta of each text, and the next diff, finds a new one.
    this.#joinable.clear();
    this.#diffs.clear();
  }
}

function isSameText(left: ItemDeltaEvent, right: ItemDeltaEvent): boolean {
  return (
    left.itemId === right.itemId &&
    left.kind === right.kind &&
    left.index === right.index &&
    // Models number their items anew in every thread.
    left.threadId === right.threadId &&
    left.turnId === right.turnId
  );
}

/** The item that an event is about, also of one that the union has no word for, such as a part of a reasoning begun. */
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

function join(left: ItemDeltaEvent, right: ItemDeltaEvent, limit: number): ItemDeltaEvent {
  // Messages, unlike parts of a text, need something between them.
  const delta = left.delta + (left.kind === "tool_progress" ? "\n" : "") + right.delta;
  if (delta.length <= limit) return { ...left, delta };
  // Half at a time: cutting at every delta would copy the whole text each time.
  const kept = newestText(delta, limit >> 1);
  return { ...left, delta: kept, omitted: (left.omitted ?? 0) + delta.length - kept.length };
}

function gap(dropped: number): CodexEvent {
  return {
    type: "warning",
    kind: "gap",
    message: `More events were unread than are kept: the ${dropped} oldest were dropped.`,
  };
}
