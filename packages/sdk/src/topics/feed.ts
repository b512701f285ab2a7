/**
 * Values that arrive on their own time, for one reader. They wait until they are read; `merge` joins a value that nobody
 * has read yet with the next, so that a slow reader gets fewer and newer ones and memory stays small.
 */
export class Feed<Value> implements AsyncIterable<Value> {
  readonly #unread: Value[] = [];
  readonly #merge: ((unread: Value, next: Value) => Value | undefined) | undefined;
  readonly #onReturn: (() => Promise<void>) | undefined;
  #end: { readonly error?: Error } | undefined;
  #wake: (() => void) | undefined;

  constructor(
    options: {
      /** Joins the newest unread value with the one that came; `undefined` keeps both. */
      readonly merge?: (unread: Value, next: Value) => Value | undefined;
      /** Runs when a reader leaves before the end. */
      readonly onReturn?: () => Promise<void>;
    } = {},
  ) {
    this.#merge = options.merge;
    this.#onReturn = options.onReturn;
  }

  push(value: Value): void {
    if (this.#end) return;
    const last = this.#unread.at(-1);
    const merged = last === undefined ? undefined : this.#merge?.(last, value);
    if (merged === undefined) this.#unread.push(value);
    else this.#unread[this.#unread.length - 1] = merged;
    this.#wake?.();
  }

  /** No more values come; with an error, the reader gets it after what is unread. The first end counts. */
  end(error?: Error): void {
    this.#end ??= error ? { error } : {};
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Value, void, undefined> {
    let finished = false;
    try {
      for (;;) {
        const value = this.#unread.shift();
        if (value !== undefined) {
          yield value;
        } else if (this.#end) {
          finished = true;
          if (this.#end.error) throw this.#end.error;
          return;
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve;
          });
        }
      }
    } finally {
      if (!finished) await this.#onReturn?.();
    }
  }
}
