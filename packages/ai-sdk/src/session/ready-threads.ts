import { limits } from "../limits.ts";

interface Waiting<Ready> {
  readonly opening: Promise<Ready>;
  readonly expiry: NodeJS.Timeout;
}

/**
 * Threads that are started before the calls that need them, while Codex waits for its model anyway: a program that has made
 * one kind of call twice makes it again. A thread serves one kind alone, and is let go if nobody comes for it soon.
 */
export class ReadyThreads<Ready> {
  readonly #close: (ready: Ready) => void;
  /** The kinds of calls that came, the latest last, with the threads that wait for the next of each. */
  readonly #kinds = new Map<string, Waiting<Ready>[]>();

  constructor(close: (ready: Ready) => void) {
    this.#close = close;
  }

  /** One for this kind of call, if there is any. It may still be starting, and may fail to. */
  take(kind: string): Promise<Ready> | undefined {
    const waiting = this.#kinds.get(kind)?.shift();
    clearTimeout(waiting?.expiry);
    return waiting?.opening;
  }

  /** A call of this kind was made, one of so many at once: as many are started for the next ones, unless it is the first. */
  prepare(kind: string, atOnce: number, open: () => Promise<Ready>): void {
    const waiting = this.#kinds.get(kind);
    this.#kinds.delete(kind);
    this.#kinds.set(kind, waiting ?? []);
    if (waiting === undefined) return this.#forgetOldest();
    while (waiting.length < Math.min(atOnce, limits.readyThreads)) waiting.push(this.#wait(kind, open()));
  }

  clear(): void {
    for (const waiting of [...this.#kinds.values()].flat()) this.#letGo(waiting);
    this.#kinds.clear();
  }

  #wait(kind: string, opening: Promise<Ready>): Waiting<Ready> {
    const expiry = setTimeout(() => {
      this.#kinds.set(kind, this.#kinds.get(kind)?.filter((other) => other !== waiting) ?? []);
      this.#letGo(waiting);
    }, limits.readyThreadMs);
    expiry.unref();
    // Whoever takes it hears of it; nobody else needs to.
    opening.catch(() => {});
    const waiting = { opening, expiry };
    return waiting;
  }

  #letGo({ opening, expiry }: Waiting<Ready>): void {
    clearTimeout(expiry);
    opening.then(this.#close, () => {});
  }

  #forgetOldest(): void {
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size <= limits.readyKinds || oldest === undefined) return;
    for (const waiting of this.#kinds.get(oldest) ?? []) this.#letGo(waiting);
    this.#kinds.delete(oldest);
  }
}
