import { messageOf } from "@codexkit/rpc/async";
import { join } from "node:path";

import { parseCommandLine, USAGE, UsageError, type RunRequest } from "./cli-options.ts";
import type { Bench } from "./define-bench.ts";
import { listBenchNames, loadBench } from "./discover.ts";
import { ProgressLine } from "./progress-line.ts";
import { missedBars, report, thisMachine } from "./report.ts";
import { runBench, type BenchResult } from "./run-bench.ts";

const DEFAULT_FOLDER = join(import.meta.dirname, "benches");

/** Exit code after a signal, as in shells: 128 + its number. */
const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 } as const;

async function main(args: readonly string[], signal: AbortSignal): Promise<number> {
  const request = parseCommandLine(args);
  const folder = request.dir ?? DEFAULT_FOLDER;
  if (request.command === "run") return run(request, folder, signal);
  await print(request.command === "help" ? USAGE : await listBenches(folder));
  return 0;
}

async function listBenches(folder: string): Promise<string> {
  const names = await listBenchNames(folder);
  if (names.length === 0) return "no benchmarks\n";
  const width = Math.max(...names.map((name) => name.length));
  const lines = names.map(async (name) => {
    // One benchmark that can't be loaded must not hide the others.
    const about = await loadBench(folder, name).then(
      ({ description }) => description,
      (error) => `cannot be loaded: ${messageOf(error)}`,
    );
    return `${name.padEnd(width)}  ${about}\n`;
  });
  return (await Promise.all(lines)).join("");
}

async function run(request: RunRequest, folder: string, signal: AbortSignal): Promise<number> {
  // Everything is loaded first, so that a mistake in the last name is reported immediately.
  const benches = await selectBenches(request, folder);
  const { only } = request;
  const progress = new ProgressLine(process.stderr);
  const results: BenchResult[] = [];
  try {
    for (const bench of benches) {
      const result = await runBench(bench, {
        rounds: request.rounds ?? bench.rounds,
        includes: (row) => only === undefined || row.includes(only),
        signal,
        onProgress: (step) => progress.update(step),
      });
      results.push(result);
    }
  } finally {
    progress.clear();
  }
  await print(`${report(results, thisMachine(), request.format)}\n`);
  if (!request.check) return 0;
  const missed = missedBars(results);
  for (const line of missed) console.error(`missed: ${line}`);
  return missed.length === 0 ? 0 : 1;
}

async function selectBenches({ names, only }: RunRequest, folder: string): Promise<Bench[]> {
  const known = await listBenchNames(folder);
  const unknown = names.filter((name) => !known.includes(name));
  if (unknown.length > 0) {
    throw new UsageError(`unknown benchmark: ${unknown.join(", ")}\nknown benchmarks: ${known.join(", ")}`);
  }
  const benches = await Promise.all(names.map((name) => loadBench(folder, name)));
  if (only === undefined) return benches;
  const chosen = benches.filter((bench) => bench.rowNames.some((row) => row.includes(only)));
  if (chosen.length > 0) return chosen;
  const rows = benches.flatMap((bench) => bench.rowNames);
  throw new UsageError(`no row contains "${only}"\nknown rows: ${rows.join(", ")}`);
}

async function print(text: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.stdout.write(text, () => resolve());
  await promise;
}

/** The first signal ends the run with cleanup; the second exits immediately. */
function interruption(): { signal: AbortSignal; exitCode: () => number | undefined } {
  const controller = new AbortController();
  let exitCode: number | undefined;
  for (const [name, code] of Object.entries(EXIT_CODES)) {
    process.on(name, () => {
      if (exitCode !== undefined) process.exit(code);
      exitCode = code;
      controller.abort(new Error(`interrupted by ${name}`));
    });
  }
  return { signal: controller.signal, exitCode: () => exitCode };
}

const { signal, exitCode } = interruption();
const code = await main(process.argv.slice(2), signal).catch((error: unknown) => {
  if (exitCode() !== undefined) console.error("interrupted");
  else if (error instanceof UsageError) console.error(`${error.message}\n\n${USAGE}`);
  else console.error(error);
  return error instanceof UsageError ? 2 : 1;
});
// Explicit, because a contestant that leaves a timer or a socket open must not keep the runner alive.
process.exit(exitCode() ?? code);
