import { limits } from "../limits.ts";

interface Waiting<Ready> {
  readonly opening: Promise<Ready>;
  readonly expiry: NodeJS.Timeout;
}

interface Kind<Ready> {
  readonly waiting: Waiting<Ready>[];
  /** Whether a thread started ahead is expected to be used, judged by what became of the last one. */
  isExpected: boolean;
  /** When a thread would have been started ahead, had one been expected. */
  withheldAt: number;
}

/**
 * Threads that are started before the calls that need them, while Codex waits for its model anyway. They are started only
 * for a kind of call whose last one was used, or would have been: starting threads in vain delays the calls that run.
 */
export class ReadyThreads<Ready> {
  readonly #close: (ready: Ready) => void;
  readonly #most: number;
  readonly #now: () => number;
  /** By the kind of call; the least recently used first. */
  readonly #kinds = new Map<string, Kind<Ready>>();

  /** @param most How many threads wait per kind of call; 0 starts none ahead. */
  constructor(close: (ready: Ready) => void, most: number, now: () => number = () => performance.now()) {
    this.#close = close;
    this.#most = most;
    this.#now = now;
  }

  /** A call of this kind arrives. Resolves to its thread, if one waits; it may still be starting, and may fail to. */
  take(name: string): Promise<Ready> | undefined {
    const kind = this.#kinds.get(name);
    if (kind === undefined) return undefined;
    const waiting = kind.waiting.shift();
    clearTimeout(waiting?.expiry);
    // A call that comes soon after a turn began would have used a thread; calls of one burst all come before that.
    if (this.#now() - kind.withheldAt < limits.readyThreadMs) kind.isExpected = true;
    return waiting?.opening;
  }

  /** The turn of a call of this kind has begun, one of `concurrent` such calls: starts as many threads for the next ones. */
  prepare(name: string, concurrent: number, open: () => Promise<Ready>): void {
    if (this.#most === 0) return;
    const kind = this.#kinds.get(name) ?? { waiting: [], isExpected: false, withheldAt: -Infinity };
    this.#kinds.delete(name);
    this.#kinds.set(name, kind);
    this.#forgetOldest();
    if (!kind.isExpected) {
      kind.withheldAt = this.#now();
      return;
    }
    while (kind.waiting.length < Math.min(concurrent, this.#most))
      kind.waiting.push(this.#wait(kind, open()));
  }

  clear(): void {
    for (const { waiting } of this.#kinds.values()) for (const one of waiting) this.#release(one);
    this.#kinds.clear();
  }

  /** Forgets all threads: their codex is about to end, and they with it. */
  forget(): void {
    for (const { waiting } of this.#kinds.values()) for (const { expiry } of waiting) clearTimeout(expiry);
    this.#kinds.clear();
  }

  #wait(kind: Kind<Ready>, opening: Promise<Ready>): Waiting<Ready> {
    const expiry = setTimeout(() => {
      kind.waiting.splice(kind.waiting.indexOf(waiting), 1);
      kind.isExpected = false;
      kind.withheldAt = -Infinity;
      this.#release(waiting);
    }, limits.readyThreadMs);
    expiry.unref();
    // The call that takes it handles a failure.
    opening.catch(() => {});
    const waiting = { opening, expiry };
    return waiting;
  }

  #release({ opening, expiry }: Waiting<Ready>): void {
    clearTimeout(expiry);
    opening.then(this.#close, () => {});
  }

  #forgetOldest(): void {
    const [oldest] = this.#kinds.keys();
    if (this.#kinds.size <= limits.readyKinds || oldest === undefined) return;
    for (const waiting of this.#kinds.get(oldest)?.waiting ?? []) this.#release(waiting);
    this.#kinds.delete(oldest);
  }
}
