import { setImmediate as nextRound, setTimeout as delay } from "node:timers/promises";

/** The clock of a stub. */
export interface StubClock {
  /** Resolves after the delay, or when the signal aborts. Never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

/** The system clock. */
export const realClock: StubClock = {
  wait: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
};

interface Waiting {
  readonly at: number;
  readonly wake: () => void;
}

/**
 * A clock that a test advances, for behaviour that takes a long time.
 *
 * @example
 * const clock = new ManualClock();
 * const provider = new StubProvider({ behaviour: "slow-tool", toolSeconds: 3_600, clock });
 * const handle = await provider.spawn({ prompt: "Take your time", cwd: "/srv/app" });
 * await clock.advance(3_600_000);
 */
export class ManualClock implements StubClock {
  #now = 0;
  readonly #waiting = new Set<Waiting>();

  wait(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const waiting = {
      at: this.#now + ms,
      wake: () => {
        this.#waiting.delete(waiting);
        signal.removeEventListener("abort", waiting.wake);
        resolve();
      },
    };
    this.#waiting.add(waiting);
    signal.addEventListener("abort", waiting.wake);
    return promise;
  }

  /** Advances the clock. Waits end in order, and may start again before the next one ends. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    // Sessions that are just starting reach their first wait.
    await nextRound();
    for (let next = this.#next(until); next; next = this.#next(until)) {
      this.#now = next.at;
      next.wake();
      await nextRound();
    }
    this.#now = until;
  }

  #next(until: number): Waiting | undefined {
    const [first] = [...this.#waiting].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at);
    return first;
  }
}
