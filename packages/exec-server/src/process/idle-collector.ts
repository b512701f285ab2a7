import { performance } from "node:perf_hooks";

/** Interval between checks of the load. */
const CHECK_MS = 2_000;

/** Share of time below which the event loop counts as idle. */
const IDLE_SHARE = 0.05;

export interface IdleCollectorOptions {
  readonly collect: () => void;
  /** How long memory is retained for clients after the last work. */
  readonly retentionMs: number;
}

/**
 * Collects garbage when work has ended, and again when what was retained for clients has expired. V8 collects only while a
 * program allocates: a server that becomes idle would keep the memory of its busiest moment.
 */
export class IdleCollector implements Disposable {
  readonly #options: IdleCollectorOptions;
  readonly #timer: NodeJS.Timeout;
  #last = performance.eventLoopUtilization();
  /** When to collect, earliest first. Empty: all garbage since the last work has been collected. */
  #due: number[] = [];

  constructor(options: IdleCollectorOptions) {
    this.#options = options;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #check(): void {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, this.#last);
    this.#last = now;
    this.observe(utilization, performance.now());
  }

  /** Receives the share of time that was spent on work since the last call. */
  observe(utilization: number, now: number): void {
    if (utilization > IDLE_SHARE) {
      this.#due = [now, now + this.#options.retentionMs];
      return;
    }
    const [next] = this.#due;
    if (next === undefined || now < next) return;
    this.#due.shift();
    this.#options.collect();
  }
}
