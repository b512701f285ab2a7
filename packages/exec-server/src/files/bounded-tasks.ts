// Part of the file helper: imports nothing from outside this package's own folder.

/**
 * Tasks of one file operation that run at once. Node has four threads for the file operations of all clients: a tree with
 * 100,000 files must not queue that many operations ahead of those of other clients.
 */
const CONCURRENT_TASKS = 4;

/** Runs tasks concurrently, but few at once. After a failure no further tasks are started. */
export class BoundedTasks {
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  /** Starts a task, after waiting until it may run. Rejects with the failure of an earlier task. */
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

  /** Waits for the tasks that are running. Rejects with the first failure. */
  async finish(): Promise<void> {
    await this.settle();
    this.#throwFailure();
  }

  /** Waits for the tasks that are running, and reports no failure. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }

  #throwFailure(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
