import type { Limit } from "./bars.ts";
import { makeRow, type Contestant, type Row, type RunnableRow } from "./row.ts";
import type { Measures, Unit } from "./units.ts";

/** Plain numbers for a row with one unit, one number a measure for a row with several. */
export type SampleOf<M extends Measures> = M extends Unit ? number : { readonly [K in keyof M]: number };

/**
 * A requirement on `ours` (or on `of`). With `against`, a quotient of the two in the measure's own unit:
 * `{ against: "floor", atLeast: 0.7 }` on a speed, `{ against: "floor", atMost: 3 }` on a time.
 * Without, a value in the measure's unit.
 */
export type BarSpec<M extends Measures, Names extends string> = Limit & {
  readonly of?: "ours" | Names;
  readonly against?: Exclude<Names, "ours">;
} & (M extends Unit ? { readonly measure?: never } : { readonly measure: keyof M & string });

export interface RowSpec<Context, M extends Measures, Names extends string> {
  readonly name: string;
  /** `"ms"` when a sample is one number; `{ throughput: "msg/s", p99: "ms" }` when it is several. */
  readonly measures: M;
  /** `ours`, and beside it `floor` (the least work that could be called the job) and peers by name. */
  readonly contestants: Readonly<Record<Names | "ours", Contestant<Context, SampleOf<M>>>>;
  readonly bars?: readonly BarSpec<M, NoInfer<Names>>[];
}

/** Declares one row; handed to `rows`, so that the row knows the type of the context. */
export type DeclareRow<Context> = <const M extends Measures, const Names extends string>(
  spec: RowSpec<Context, M, Names>,
) => Row<Context>;

export interface BenchSpec<Context> {
  /** The name on the command line; the file is `benches/NAME.bench.ts`. */
  readonly name: string;
  readonly description: string;
  /** Recorded rounds; one more, unrecorded, warms every row up. */
  readonly rounds: number;
  /**
   * Makes what the contestants share, such as a running process. Disposed after the last row, and on Ctrl-C.
   * The signal falls on Ctrl-C while this still runs: what it started is then its own to end.
   */
  readonly setup?: (signal: AbortSignal) => Promise<Context>;
  readonly rows: (row: DeclareRow<NoInfer<Context>>) => readonly Row<NoInfer<Context>>[];
}

/** A benchmark whose context is up: its rows can run. */
export interface OpenBench extends AsyncDisposable {
  readonly rows: readonly RunnableRow[];
}

/** A declared benchmark; the type of its context is nobody else's business. */
export interface Bench {
  readonly name: string;
  readonly description: string;
  readonly rounds: number;
  readonly rowNames: readonly string[];
  open(signal: AbortSignal): Promise<OpenBench>;
}

/**
 * Declares a benchmark.
 *
 * @example
 * export default defineBench({
 *   name: "parse",
 *   description: "parsing one line",
 *   rounds: 9,
 *   rows: (row) => [
 *     row({
 *       name: "short line",
 *       measures: "ops/s",
 *       contestants: { ours: async () => measure(parse), floor: async () => measure(JSON.parse) },
 *       bars: [{ against: "floor", atLeast: 0.7 }],
 *     }),
 *   ],
 * });
 */
export function defineBench<Context extends AsyncDisposable | undefined = undefined>(
  spec: BenchSpec<Context>,
): Bench {
  const rows = spec.rows(makeRow);
  const { name, description, rounds, setup } = spec;
  return {
    name,
    description,
    rounds,
    rowNames: rows.map((row) => row.name),
    async open(signal) {
      // Without `setup` nothing fixes Context but its default, so that undefined is what it says.
      const context = setup === undefined ? (undefined as Context) : await setup(signal);
      return {
        rows: rows.map((row) => row.bind(context)),
        async [Symbol.asyncDispose]() {
          await context?.[Symbol.asyncDispose]();
        },
      };
    },
  };
}
