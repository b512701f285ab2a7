import { messageOf, raceAbort } from "@codexkit/rpc/async";
import { collectGarbage } from "./collect-garbage.ts";
import { contestantOrder } from "./contestant-order.ts";
import type { Bench } from "./define-bench.ts";
import type { RunnableRow, SampleByMeasure } from "./row.ts";
import { summarizeRow, type RowResult } from "./summarize-row.ts";

export interface BenchResult {
  readonly name: string;
  readonly description: string;
  readonly rounds: number;
  readonly rows: readonly RowResult[];
}

/** Progress of a run. Round 0 is the warm-up. */
export interface Progress {
  readonly bench: string;
  readonly row: string;
  readonly round: number;
  readonly rounds: number;
  readonly contestant: string;
}

export interface RunOptions {
  readonly rounds: number;
  /** Whether to run the row with this name. */
  readonly includes: (rowName: string) => boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly limits?: Limits;
}

interface Limits {
  /** How long one sample may take. */
  readonly sampleMs: number;
  /** How long interrupted work may take to clean up. */
  readonly graceMs: number;
}

const LIMITS: Limits = {
  // Far longer than any useful sample. Ends a contestant that waits for a lost response.
  sampleMs: 300_000,
  // After this, users press Ctrl-C again.
  graceMs: 2_000,
};

/** Runs the rows sequentially, and in each row all contestants round by round. */
export async function runBench(bench: Bench, options: RunOptions): Promise<BenchResult> {
  const { rounds, signal, limits = LIMITS } = options;
  await using open = await raceAbortWithGrace(bench.open(signal), signal, limits.graceMs);
  const rows: RowResult[] = [];
  for (const row of open.rows) {
    if (options.includes(row.name)) rows.push(await runRow(bench.name, row, options));
  }
  return { name: bench.name, description: bench.description, rounds, rows };
}

async function runRow(bench: string, row: RunnableRow, options: RunOptions): Promise<RowResult> {
  const { rounds, signal, onProgress } = options;
  const samples = new Map<string, SampleByMeasure[]>(row.contestants.map((name) => [name, []]));
  // The first round is not recorded: it loads modules, fills caches and lets the compiler optimise every path.
  for (let round = 0; round <= rounds; round += 1) {
    for (const contestant of contestantOrder(row.contestants, round)) {
      signal.throwIfAborted();
      onProgress({ bench, row: row.name, round, rounds, contestant });
      // So that a contestant does not pay for the garbage of the previous one.
      collectGarbage();
      const sample = await takeSample(row, contestant, options);
      if (round > 0) samples.get(contestant)?.push(sample);
    }
  }
  return summarizeRow(row, samples);
}

async function takeSample(
  row: RunnableRow,
  contestant: string,
  options: RunOptions,
): Promise<SampleByMeasure> {
  const { signal, limits = LIMITS } = options;
  const limit = AbortSignal.timeout(limits.sampleMs);
  const either = AbortSignal.any([signal, limit]);
  try {
    return await raceAbortWithGrace(row.run(contestant, either), either, limits.graceMs);
  } catch (cause) {
    const problem = messageOf(cause);
    const reason = limit.aborted ? `no sample within ${limits.sampleMs / 1000} s` : problem;
    throw new Error(`row "${row.name}", contestant "${contestant}": ${reason}`, { cause });
  }
}

/**
 * Settles as the work does, or rejects with the signal's reason. After the abort the work has `graceMs` to clean up, so that the
 * context that it uses is not disposed too early.
 */
async function raceAbortWithGrace<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T> {
  const graceEnd = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    timer = setTimeout(() => graceEnd.abort(signal.reason), graceMs);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await raceAbort(work, graceEnd.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
