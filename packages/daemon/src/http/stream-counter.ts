import { DaemonError } from "../errors.ts";
import type { Metrics } from "./metrics.ts";

export type StreamKind = "session" | "multiplexed" | "files" | "threads";

/** Counts open event streams and limits their number. */
export class StreamCounter {
  readonly #open: Record<StreamKind, number> = { session: 0, multiplexed: 0, files: 0, threads: 0 };
  readonly #limit: number;
  readonly #metrics: Metrics;

  constructor(limit: number, metrics: Metrics) {
    this.#limit = limit;
    this.#metrics = metrics;
  }

  get counts() {
    const { session: sessions, multiplexed, files, threads } = this.#open;
    return { sessions, multiplexed, files, threads };
  }

  /** Counts a stream until the returned function is called. Throws `too_many_connections` at the limit. */
  add(kind: StreamKind): () => void {
    if (Object.values(this.#open).reduce((sum, count) => sum + count) >= this.#limit) {
      throw new DaemonError("too_many_connections", `${this.#limit} event streams are already open.`, {
        details: { retryAfter: 5 },
      });
    }
    this.#change(kind, 1);
    return () => this.#change(kind, -1);
  }

  #change(kind: StreamKind, by: 1 | -1): void {
    this.#open[kind] += by;
    this.#metrics.openStreams.set({ kind }, this.#open[kind]);
  }
}
