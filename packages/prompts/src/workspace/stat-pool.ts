import { availableParallelism } from "node:os";
import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { WORKSPACE_LIMITS } from "./limits.ts";
import {
  createBatch,
  findDiffering,
  type PathStats,
  type StatBatch,
  statChunk,
  statsAt,
} from "./stat-batch.ts";
import type { StatRequest } from "./stat-worker.ts";

const PROGRAM = new URL(`stat-worker${import.meta.filename.slice(-3)}`, import.meta.url);

/** The result of looking up all paths. Valid until the next run. */
export interface StatRun {
  /** Paths whose stats differ from the previous run. Undefined if there is no previous run. */
  readonly changed: readonly string[] | undefined;
  /** Returns undefined if the path does not exist, or "failed" if the pool does not contain it or could not look it up. */
  statsOf(path: string): PathStats | undefined | "failed";
}

interface PoolThread {
  readonly worker: Worker;
  isReady: boolean;
  /** Called when a run or the thread ends. */
  onDone: ((isComplete: boolean) => void) | undefined;
}

/**
 * Looks up the stats of many paths on several threads, including this one. Scans spend most of their time in the kernel, which
 * serves threads in parallel. Does not wait for threads that are not ready yet or have ended.
 */
export class StatPool implements Disposable {
  readonly #root: string;
  readonly #threads = new Set<PoolThread>();
  #batch: StatBatch;
  #indexes: ReadonlyMap<string, number> = new Map();
  /** Values of the last run. Undefined before the first run with the current paths. */
  #before: Float64Array | undefined;

  constructor(
    root: string,
    threads: number = Math.min(availableParallelism(), WORKSPACE_LIMITS.scanThreads),
  ) {
    this.#root = root;
    this.#batch = createBatch(root, []);
    for (let count = 1; count < threads; count += 1) this.#startThread();
  }

  get paths(): readonly string[] {
    return this.#batch.paths;
  }

  setPaths(paths: readonly string[]): void {
    this.#batch = createBatch(this.#root, paths);
    this.#indexes = new Map(paths.map((path, index) => [path, index]));
    this.#before = undefined;
    for (const { worker } of this.#threads) post(worker, this.#batch);
  }

  has(path: string): boolean {
    return this.#indexes.has(path);
  }

  /** Looks up all paths. Runs must not overlap. */
  async stat(): Promise<StatRun> {
    const batch = this.#batch;
    const indexes = this.#indexes;
    Atomics.store(batch.next, 0, 0);
    const others = [...this.#threads].filter(({ isReady }) => isReady).map(runThread);
    await statAll(batch);
    const completed = await Promise.all(others);
    if (completed.includes(false)) {
      // A thread ended in the middle of a chunk, which still has the previous run's values. Start again.
      Atomics.store(batch.next, 0, 0);
      await statAll(batch);
    }
    const differing = this.#before && findDiffering(batch, this.#before);
    this.#before = batch.values.slice();
    return {
      changed: differing?.map((index) => batch.paths[index] ?? ""),
      statsOf: (path) => {
        const index = indexes.get(path);
        return index === undefined ? "failed" : statsAt(batch, index);
      },
    };
  }

  [Symbol.dispose](): void {
    for (const { worker } of this.#threads) void worker.terminate();
    this.#threads.clear();
  }

  #startThread(): void {
    const worker = new Worker(PROGRAM);
    const thread: PoolThread = { worker, isReady: false, onDone: undefined };
    this.#threads.add(thread);
    worker.unref();
    worker.on("online", () => {
      thread.isReady = true;
    });
    worker.on("message", () => thread.onDone?.(true));
    // Ignored, because a pool without threads is only slower.
    worker.on("error", () => {});
    worker.on("exit", () => {
      this.#threads.delete(thread);
      thread.onDone?.(false);
    });
  }
}

/** Processes the batch in short slices, so that the event loop is not blocked. */
async function statAll(batch: StatBatch): Promise<void> {
  let sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;
  while (statChunk(batch)) {
    if (performance.now() > sliceEnd) {
      await setImmediate();
      sliceEnd = performance.now() + WORKSPACE_LIMITS.sliceMs;
    }
  }
}

/** Runs a thread. Returns whether it finished all chunks that it took. */
async function runThread(thread: PoolThread): Promise<boolean> {
  // Referenced while it works. Otherwise, Node may exit although a caller waits for the scan.
  thread.worker.ref();
  const isComplete = await new Promise<boolean>((resolve) => {
    thread.onDone = resolve;
    post(thread.worker, "run");
  });
  thread.onDone = undefined;
  thread.worker.unref();
  return isComplete;
}

function post(worker: Worker, request: StatRequest): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  worker.postMessage(request);
}
