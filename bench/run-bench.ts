import { collectGarbage } from "./collect-garbage.ts";
import { contestantOrder } from "./contestant-order.ts";
import type { Bench } from "./define-bench.ts";
import type { RunnableRow, SampleByMeasure } from "./row.ts";
import { summarizeRow, type RowResult } from "./summarize-row.ts";
import { untilAborted } from "./until-aborted.ts";

export interface BenchResult {
  readonly name: string;
  readonly description: string;
  readonly rounds: number;
  readonly rows: readonly RowResult[];
}

/** Where a run is. Round 0 is the warm-up. */
export interface Progress {
  readonly bench: string;
  readonly row: string;
  readonly round: number;
  readonly rounds: number;
  readonly contestant: string;
}

export interface RunOptions {
  readonly rounds: number;
  /** Whether a row of this name takes part. */
  readonly includes: (rowName: string) => boolean;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly limits?: Limits;
}

interface Limits {
  /** How long one sample may take. */
  readonly sampleMs: number;
  /** How long interrupted work may take to end what it started. */
  readonly graceMs: number;
}

const LIMITS: Limits = {
  // Far above any sample worth waiting for; what it ends is a contestant that waits for an answer that was lost.
  sampleMs: 300_000,
  // Longer, and a person presses Ctrl-C again.
  graceMs: 2_000,
};

/** Runs the rows one after the other, and in each row all contestants round by round. */
export async function runBench(bench: Bench, options: RunOptions): Promise<BenchResult> {
  const { rounds, signal, limits = LIMITS } = options;
  await using open = await untilAborted(bench.open(signal), signal, limits.graceMs);
  const rows: RowResult[] = [];
  for (const row of open.rows) {
    if (options.includes(row.name)) rows.push(await runRow(bench.name, row, options));
  }
  return { name: bench.name, description: bench.description, rounds, rows };
}

async function runRow(bench: string, row: RunnableRow, options: RunOptions): Promise<RowResult> {
  const { rounds, signal, onProgress } = options;
  const samples = new Map<string, SampleByMeasure[]>(row.contestants.map((name) => [name, []]));
  // One round goes unrecorded: it loads modules, fills caches and lets the compiler see every path once.
  for (let round = 0; round <= rounds; round += 1) {
    for (const contestant of contestantOrder(row.contestants, round)) {
      signal.throwIfAborted();
      onProgress({ bench, row: row.name, round, rounds, contestant });
      // So that nobody pays for the garbage of the one before.
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
    return await untilAborted(row.run(contestant, either), either, limits.graceMs);
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    const why = limit.aborted ? `no sample within ${limits.sampleMs / 1000} s` : problem;
    throw new Error(`row "${row.name}", contestant "${contestant}": ${why}`, { cause });
  }
}
