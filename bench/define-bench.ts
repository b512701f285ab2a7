import type { Limit } from "./bars.ts";
import { makeRow, type Contestant, type Row, type RunnableRow } from "./row.ts";
import type { Measures, Unit } from "./units.ts";

/** A number for a row with one unit, or one number per measure for a row with several. */
export type SampleOf<M extends Measures> = M extends Unit ? number : { readonly [K in keyof M]: number };

/**
 * A requirement on `ours` (or on `of`). With `against`, the limit is a quotient: `{ against: "floor", atLeast: 0.7 }` for a
 * speed, `{ against: "floor", atMost: 3 }` for a time. Without it, the limit is a value in the measure's unit.
 */
export type BarSpec<M extends Measures, Names extends string> = Limit & {
  readonly of?: "ours" | Names;
  readonly against?: Exclude<Names, "ours">;
} & (M extends Unit ? { readonly measure?: never } : { readonly measure: keyof M & string });

export interface RowSpec<Context, M extends Measures, Names extends string> {
  readonly name: string;
  /** `"ms"` if a sample is one number; `{ throughput: "msg/s", p99: "ms" }` if it has several. */
  readonly measures: M;
  /** `ours`, optionally `floor` (the minimum work for the task), and other implementations by name. */
  readonly contestants: Readonly<Record<Names | "ours", Contestant<Context, SampleOf<M>>>>;
  readonly bars?: readonly BarSpec<M, NoInfer<Names>>[];
}

/** Declares one row. Passed to `rows`, so that the row's context type is inferred. */
export type DeclareRow<Context> = <const M extends Measures, const Names extends string>(
  spec: RowSpec<Context, M, Names>,
) => Row<Context>;

export interface BenchSpec<Context> {
  /** The name on the command line. The file is `benches/NAME.bench.ts`. */
  readonly name: string;
  readonly description: string;
  /** Number of recorded rounds. An additional round warms up every row. */
  readonly rounds: number;
  /**
   * Creates the shared context, such as a running process. It is disposed after the last row and on Ctrl-C. If the signal aborts
   * during the setup, the setup must clean up itself.
   */
  readonly setup?: (signal: AbortSignal) => Promise<Context>;
  readonly rows: (row: DeclareRow<NoInfer<Context>>) => readonly Row<NoInfer<Context>>[];
}

/** A benchmark with its context, ready to run. */
export interface OpenBench extends AsyncDisposable {
  readonly rows: readonly RunnableRow[];
}

/** A declared benchmark. The type of its context is hidden. */
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
      // Without `setup`, Context has its default type, undefined.
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
