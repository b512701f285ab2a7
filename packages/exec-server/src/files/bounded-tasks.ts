// Part of the file helper: imports nothing from outside this package's own folder.

/**
 * Concurrent tasks per file operation. Node has four threads for the file operations of all clients, so a
 * tree with 100,000 files must not queue that many operations ahead of those of other clients.
 */
const CONCURRENT_TASKS = 4;

/** Runs tasks with limited concurrency. After a failure, no further tasks are started. */
export class BoundedTasks {
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** Starts a task when there is capacity for it. Rejects with the failure of an earlier task. */
  async start(task: () => Promise<void>): Promise<void> {
    while (this.#running.size >= CONCURRENT_TASKS) await Promise.race(this.#running);
    this.#throwFailure();
    const running = task()
      .catch((error: unknown) => {
        this.#failure ??= { error };
      })
      .finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** Waits for the running tasks. Rejects with the first failure. */
  async finish(): Promise<void> {
    await this.settle();
    this.#throwFailure();
  }

  /** Waits for the running tasks without reporting failures. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
