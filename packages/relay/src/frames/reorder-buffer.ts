export interface ReorderLimits {
  /** How far ahead of the next expected item one may arrive. */
  readonly frames: number;
  /** Bytes of the items that wait for an earlier one. */
  readonly bytes: number;
}

/** `full`: the item is too far ahead and was not kept. `refused`: the receiver did not accept it, and expects another copy. */
export type ReorderResult = "accepted" | "duplicate" | "full" | "refused";

/** Puts numbered items in order. The first copy of a number wins. The limits may change with the mode of a stream. */
export class ReorderBuffer<Item> {
  readonly #limits: () => ReorderLimits;
  readonly #sizeOf: (item: Item) => number;
  readonly #waiting = new Map<number, Item>();
  #waitingBytes = 0;
  #nextSeq = 0;

  constructor(limits: () => ReorderLimits, sizeOf: (item: Item) => number) {
    this.#limits = limits;
    this.#sizeOf = sizeOf;
  }

  /** Number of the next item in order. All items with smaller numbers have been delivered. */
  get nextSeq(): number {
    return this.#nextSeq;
  }

  /** Whether items wait for an earlier one. */
  get hasGap(): boolean {
    return this.#waiting.size > 0;
  }

  /** Whether an item that is ahead of the next one has arrived. */
  has(seq: number): boolean {
    return this.#waiting.has(seq);
  }

  /**
   * Adds an item; `onItem` is called for each one that is now in order. If it returns false, the item counts as lost: its next copy
   * is processed instead.
   */
  push(seq: number, item: Item, onItem: (item: Item) => boolean): ReorderResult {
    if (seq < this.#nextSeq || this.#waiting.has(seq)) return "duplicate";
    if (seq > this.#nextSeq) {
      const bytes = this.#waitingBytes + this.#sizeOf(item);
      const limits = this.#limits();
      if (seq - this.#nextSeq > limits.frames || bytes > limits.bytes) return "full";
      this.#waiting.set(seq, item);
      this.#waitingBytes = bytes;
      return "accepted";
    }
    if (!this.#take(item, onItem)) return "refused";
    this.#takeWaiting(onItem);
    return "accepted";
  }

  clear(): void {
    this.#waiting.clear();
    this.#waitingBytes = 0;
  }

  /** Advances first, because the receiver may acknowledge the item. */
  #take(item: Item, onItem: (item: Item) => boolean): boolean {
    this.#nextSeq += 1;
    const isAccepted = onItem(item);
    if (!isAccepted) this.#nextSeq -= 1;
    return isAccepted;
  }

  #takeWaiting(onItem: (item: Item) => boolean): void {
    for (;;) {
      const item = this.#waiting.get(this.#nextSeq);
      if (item === undefined) return;
      this.#waiting.delete(this.#nextSeq);
      this.#waitingBytes -= this.#sizeOf(item);
      if (!this.#take(item, onItem)) return;
    }
  }
}
