import { ScriptedModelError } from "./errors.ts";
import { SCRIPTED_MODEL_LIMITS } from "./limits.ts";
import type { ScriptRequest } from "./script-request.ts";

/** Options of a wait. */
export interface WaitOptions {
  readonly signal?: AbortSignal;
  /** Default: `SCRIPTED_MODEL_LIMITS.waitTimeoutMs`. */
  readonly timeoutMs?: number;
}

interface Waiter {
  /** Returns true if the wait is satisfied. */
  readonly check: () => boolean;
  readonly fail: (error: ScriptedModelError) => void;
}

export interface RequestLogLimits {
  /** Maximum number of kept requests. */
  readonly requests: number;
  /** Maximum total size of their bodies. */
  readonly bytes: number;
}

/** Records requests and resolves waits for them. */
export class RequestLog {
  readonly #kept: ScriptRequest[] = [];
  readonly #waiters = new Set<Waiter>();
  readonly #limits: RequestLogLimits;
  #bytes = 0;
  #count = 0;
  #handedOut = 0;
  #closed = false;

  constructor(limits: RequestLogLimits) {
    this.#limits = limits;
  }

  /** The newest requests, oldest first. */
  get kept(): readonly ScriptRequest[] {
    return this.#kept;
  }

  /** Total number of requests. */
  get count(): number {
    return this.#count;
  }

  add(request: ScriptRequest): void {
    this.#count++;
    this.#kept.push(request);
    this.#bytes += request.bytes;
    this.#forgetOldest();
    for (const waiter of this.#waiters) waiter.check();
  }

  /** Returns the oldest request that this method has not returned yet. */
  async next(options: WaitOptions): Promise<ScriptRequest> {
    return this.#until("the next request", options, () => {
      const found = this.#kept.find(({ index }) => index >= this.#handedOut);
      if (found) this.#handedOut = found.index + 1;
      return found;
    });
  }

  async find(test: (request: ScriptRequest) => boolean, options: WaitOptions): Promise<ScriptRequest> {
    return this.#until("a matching request", options, () => this.#kept.find(test));
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

  #forgetOldest(): void {
    const { requests, bytes } = this.#limits;
    // The newest request is kept regardless of its size, because a test may be waiting for it.
    while (this.#kept.length > requests || (this.#bytes > bytes && this.#kept.length > 1)) {
      this.#bytes -= this.#kept.shift()?.bytes ?? 0;
    }
  }

  async #until<T>(what: string, options: WaitOptions, probe: () => T | undefined): Promise<T> {
    const { signal, timeoutMs = SCRIPTED_MODEL_LIMITS.waitTimeoutMs } = options;
    const ready = probe();
    if (ready !== undefined) return ready;
    if (this.#closed) throw closedError();
    if (signal?.aborted) throw abortedError(what, signal);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const waiter: Waiter = {
      check: () => {
        const found = probe();
        if (found === undefined) return false;
        // Removed immediately, because one request must not satisfy two waits for the next one.
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
    const received = `${this.#count} received so far`;
    return new ScriptedModelError(
      "wait_timeout",
      `Timed out after ${ms} ms waiting for ${what}; ${received}.`,
    );
  }
}

function closedError(): ScriptedModelError {
  return new ScriptedModelError("closed", "The scripted model is closed.");
}

function abortedError(what: string, signal: AbortSignal | undefined): ScriptedModelError {
  return new ScriptedModelError("aborted", `The wait for ${what} was aborted.`, { cause: signal?.reason });
}
