export interface AsyncQueueOptions<Value> {
  /** Maximum total size of the unread values, measured by `sizeOf`. Beyond it, the oldest are dropped. Default: no limit. */
  readonly maxSize?: number;
  /** Default: 1, so that `maxSize` is a number of values. */
  readonly sizeOf?: (value: Value) => number;
  /** Merges the newest unread value with the next one, so that a slow reader gets fewer. Returns `undefined` to keep both. */
  readonly merge?: (unread: Value, next: Value) => Value | undefined;
  /** Creates the value that the reader gets in place of the dropped ones. If it throws, the iteration ends with its error. */
  readonly onDropped?: (count: number) => Value;
  /** Runs when the reader stops before the end. */
  readonly onReturn?: () => Promise<void> | void;
}

/**
 * A queue for one reader. The writer never waits; a reader that falls behind gets merged values, and beyond `maxSize` an
 * explicit gap.
 */
export class AsyncQueue<Value> implements AsyncIterable<Value> {
  readonly #options: AsyncQueueOptions<Value>;
  readonly #maxSize: number;
  /** Values from `#head` on are unread. Removing the read ones moves the rest, so it happens rarely. */
  #values: Value[] = [];
  #head = 0;
  #size = 0;
  #dropped = 0;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(options: AsyncQueueOptions<Value> = {}) {
    this.#options = options;
    this.#maxSize = options.maxSize ?? Number.POSITIVE_INFINITY;
  }

  /** Number of unread values. */
  get length(): number {
    return this.#values.length - this.#head;
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Adds a value. Ignored after the end. */
  push(value: Value): void {
    if (this.#end) return;
    this.#append(value);
    // The newest value stays, however large it is.
    while (this.#size > this.#maxSize && this.length > 1) {
      this.shift();
      this.#dropped += 1;
    }
    this.#wake?.();
  }

  /** Removes and returns the oldest unread value, if there is one. */
  shift(): Value | undefined {
    if (this.length === 0) return undefined;
    const value = this.#values[this.#head] as Value;
    this.#size -= this.#sizeOf(value);
    this.#head += 1;
    if (this.#head * 2 > this.#values.length) {
      this.#values = this.#values.slice(this.#head);
      this.#head = 0;
    }
    return value;
  }

  /** Ends the queue. The reader still gets the unread values, then the error if there is one. Only the first call counts. */
  end(error?: Error): void {
    this.#end ??= error ? { error } : {};
    this.#wake?.();
  }

  /** Discards the unread values. */
  clear(): void {
    this.#values = [];
    this.#head = 0;
    this.#size = 0;
    this.#dropped = 0;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, undefined> {
    let hasFinished = false;
    try {
      for (;;) {
        if (this.#dropped > 0 && this.#options.onDropped) {
          const count = this.#dropped;
          this.#dropped = 0;
          yield this.#options.onDropped(count);
        } else if (this.length > 0) {
          yield this.shift() as Value;
        } else if (this.#end) {
          hasFinished = true;
          if (this.#end.error) throw this.#end.error;
          return;
        } else {
          const { promise, resolve } = Promise.withResolvers<void>();
          this.#wake = resolve;
          await promise;
          this.#wake = undefined;
        }
      }
    } finally {
      if (!hasFinished) await this.#options.onReturn?.();
    }
  }

  #append(value: Value): void {
    const last = this.length > 0 ? (this.#values.at(-1) as Value) : undefined;
    const merged = last === undefined ? undefined : this.#options.merge?.(last, value);
    if (last === undefined || merged === undefined) {
      this.#values.push(value);
      this.#size += this.#sizeOf(value);
      return;
    }
    this.#values[this.#values.length - 1] = merged;
    this.#size += this.#sizeOf(merged) - this.#sizeOf(last);
  }

  #sizeOf(value: Value): number {
    return this.#options.sizeOf?.(value) ?? 1;
  }
}
