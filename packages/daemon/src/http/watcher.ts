import type { EventBatch, Journal } from "../journal/journal.ts";

export interface WatcherOptions {
  readonly journal: Journal;
  readonly sessionId: string;
  readonly after: number;
  readonly signal: AbortSignal;
  /** Called when a batch is available or the watcher has ended. */
  readonly onChange: () => void;
}

/** Follows one session of a multiplexed stream. Reads ahead by one batch. */
export class Watcher {
  readonly sessionId: string;
  #batch: EventBatch | undefined;
  #taken: (() => void) | undefined;
  #error: Error | undefined;

  constructor(options: WatcherOptions) {
    this.sessionId = options.sessionId;
    void this.#run(options);
  }

  /** Returns the next batch, if there is one. Throws if the journal could not be read. */
  drain(): EventBatch | undefined {
    const batch = this.#batch;
    if (!batch && this.#error) throw this.#error;
    this.#batch = undefined;
    this.#taken?.();
    return batch;
  }

  async #run({ journal, sessionId, after, signal, onChange }: WatcherOptions): Promise<void> {
    const release = (): void => this.#taken?.();
    signal.addEventListener("abort", release, { once: true });
    try {
      for await (const batch of journal.followBatches(sessionId, { after, signal })) {
        this.#batch = batch;
        const taken = new Promise<void>((resolve) => {
          this.#taken = resolve;
        });
        onChange();
        if (!signal.aborted) await taken;
      }
    } catch (error) {
      this.#error = error instanceof Error ? error : new Error(String(error));
    } finally {
      signal.removeEventListener("abort", release);
      onChange();
    }
  }
}
