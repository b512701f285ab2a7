import { ScriptedModelError } from "./errors.ts";
import { limits } from "./limits.ts";
import type { ScriptRequest } from "./script-request.ts";

/** How long a wait may last. */
export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Milliseconds; `limits.waitMs` unless told. */
  readonly timeoutMs?: number;
}

interface Waiter {
  /** Tries again; true when it is satisfied. */
  readonly check: () => boolean;
  readonly fail: (error: ScriptedModelError) => void;
}

/** The requests that came, and those who wait for more. */
export class RequestLog {
  readonly #kept: ScriptRequest[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #keep: number;
  #count = 0;
  #handedOut = 0;
  #closed = false;

  constructor(keep: number) {
    this.#keep = keep;
  }

  /** The newest requests, oldest first. */
  get kept(): readonly ScriptRequest[] {
    return this.#kept;
  }

  /** How many came in all. */
  get count(): number {
    return this.#count;
  }

  add(request: ScriptRequest): void {
    this.#count++;
    this.#kept.push(request);
    if (this.#kept.length > this.#keep) this.#kept.shift();
    for (const waiter of this.#waiters) waiter.check();
  }

  /** The oldest request that no call of this gave out yet. */
  async next(options: WaitOptions): Promise<ScriptRequest> {
    return this.#until("the next request", options, () => {
      const found = this.#kept.find(({ index }) => index >= this.#handedOut);
      if (found) this.#handedOut = found.index + 1;
      return found;
    });
  }

  async find(test: (request: ScriptRequest) => boolean, options: WaitOptions): Promise<ScriptRequest> {
    return this.#until("a request that fits", options, () => this.#kept.find(test));
  }

  async atLeast(count: number, options: WaitOptions): Promise<readonly ScriptRequest[]> {
    return this.#until(`${count} requests`, options, () =>
      this.#count >= count ? this.#kept.slice() : undefined,
    );
  }

  close(): void {
    this.#closed = true;
    for (const waiter of this.#waiters) waiter.fail(closedError());
  }

  async #until<T>(what: string, options: WaitOptions, probe: () => T | undefined): Promise<T> {
    const { signal, timeoutMs = limits.waitMs } = options;
    const ready = probe();
    if (ready !== undefined) return ready;
    if (this.#closed) throw closedError();
    if (signal?.aborted) throw abortedError(what, signal);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiter: Waiter = {
      check: () => {
        const found = probe();
        if (found === undefined) return false;
        // Leaves at once: one request must not satisfy two who wait for the next.
        this.#waiters.delete(waiter);
        resolve(found);
        return true;
      },
      fail: reject,
    };
    const onAbort = (): void => reject(abortedError(what, signal));
    const timer = setTimeout(() => reject(this.#timeoutError(what, timeoutMs)), timeoutMs);
    signal?.addEventListener("abort", onAbort, { once: true });
    this.#waiters.add(waiter);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      this.#waiters.delete(waiter);
    }
  }

  #timeoutError(what: string, ms: number): ScriptedModelError {
    const came = `${this.#count} came so far`;
    return new ScriptedModelError("wait_timeout", `Waited ${ms} ms for ${what}; ${came}.`);
  }
}

function closedError(): ScriptedModelError {
  return new ScriptedModelError("closed", "The scripted model is closed.");
}

function abortedError(what: string, signal: AbortSignal | undefined): ScriptedModelError {
  return new ScriptedModelError("aborted", `The wait for ${what} was aborted.`, { cause: signal?.reason });
}
