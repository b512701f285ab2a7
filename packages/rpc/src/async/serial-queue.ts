/** Runs tasks one at a time, in the order in which they were added. */
export class SerialQueue {
  #last: Promise<void> = Promise.resolve();
  #size = 0;

  /** Tasks that are running or waiting. */
  get size(): number {
    return this.#size;
  }

  /** Runs the task after all earlier ones. A failing task rejects its own caller and does not stop the queue. */
  async run<Result>(task: () => Result | Promise<Result>): Promise<Result> {
    using _held = await this.acquire();
    return await task();
  }

  /** Resolves when all earlier tasks have ended. The next task starts when the returned lock is disposed. */
  async acquire(): Promise<Disposable> {
    const previous = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    this.#size += 1;
    await previous;
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#size -= 1;
        resolve();
      },
    };
  }
}

/** One {@link SerialQueue} per key. Tasks of different keys run concurrently; a key without tasks uses no memory. */
export class KeyedSerialQueue<Key> {
  readonly #queues = new Map<Key, SerialQueue>();

  /** Keys with a running or waiting task. */
  get size(): number {
    return this.#queues.size;
  }

  async run<Result>(key: Key, task: () => Result | Promise<Result>): Promise<Result> {
    using _held = await this.acquire(key);
    return await task();
  }

  async acquire(key: Key): Promise<Disposable> {
    let queue = this.#queues.get(key);
    if (!queue) this.#queues.set(key, (queue = new SerialQueue()));
    const lock = await queue.acquire();
    return {
      [Symbol.dispose]: () => {
        lock[Symbol.dispose]();
        if (queue.size === 0 && this.#queues.get(key) === queue) this.#queues.delete(key);
      },
    };
  }
}
