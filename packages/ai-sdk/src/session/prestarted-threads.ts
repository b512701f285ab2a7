import { AI_SDK_LIMITS } from "../limits.ts";

interface Waiting<Ready> {
  readonly opening: Promise<Ready>;
  readonly expiry: NodeJS.Timeout;
}

interface Kind<Ready> {
  readonly waiting: Waiting<Ready>[];
  /** Whether a prestarted thread is expected to be used, based on the last one. */
  isExpected: boolean;
  /** When a thread would have been prestarted if one had been expected. */
  withheldAt: number;
}

/**
 * Threads that are started before the calls that need them, while Codex waits for its model. They are started only for a kind
 * of call whose last prestarted thread was used or would have been used, because unused threads delay running calls.
 */
export class PrestartedThreads<Ready> {
  readonly #close: (ready: Ready) => void;
  readonly #most: number;
  readonly #now: () => number;
  /** By kind of call, least recently used first. */
  readonly #kinds = new Map<string, Kind<Ready>>();

  /** @param most Maximum number of threads per kind of call; 0 prestarts none. */
  constructor(close: (ready: Ready) => void, most: number, now: () => number = () => performance.now()) {
    this.#close = close;
    this.#most = most;
    this.#now = now;
  }

  /** Takes a thread for a call of this kind, if there is one. It may still be starting and may fail to start. */
  take(name: string): Promise<Ready> | undefined {
    const kind = this.#kinds.get(name);
    if (kind === undefined) return undefined;
    const waiting = kind.waiting.shift();
    clearTimeout(waiting?.expiry);
    // A call soon after a turn has started would have used a thread. All calls of a burst arrive before that.
    if (this.#now() - kind.withheldAt < AI_SDK_LIMITS.prestartedThreadMs) kind.isExpected = true;
    return waiting?.opening;
  }

  /** Called when the turn of one of `concurrent` calls of this kind has started. Starts that many threads for the next calls. */
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

  /** Forgets all threads without closing them, because they end with their codex. */
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
    }, AI_SDK_LIMITS.prestartedThreadMs);
    expiry.unref();
    // A failure is handled by the call that takes the thread.
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
    if (this.#kinds.size <= AI_SDK_LIMITS.prestartedKinds || oldest === undefined) return;
    for (const waiting of this.#kinds.get(oldest)?.waiting ?? []) this.#release(waiting);
    this.#kinds.delete(oldest);
  }
}
