import { objectionToBar, type Bar, type Limit } from "./bars.ts";
import { resolveMeasures, type Measure, type Measures } from "./units.ts";

/** Does the work once and returns its sample. When the signal aborts, it must end what it started. */
export type Contestant<Context, Sample> = (context: Context, signal: AbortSignal) => Promise<Sample>;

/** A sample by measure name. */
export type SampleByMeasure = Readonly<Record<string, number>>;

export interface RowHead {
  readonly name: string;
  readonly measures: readonly Measure[];
  /** `ours` first, then `floor`, then the peers as declared. */
  readonly contestants: readonly string[];
  readonly bars: readonly Bar[];
}

export interface RunnableRow extends RowHead {
  run(contestant: string, signal: AbortSignal): Promise<SampleByMeasure>;
}

export interface Row<Context> extends RowHead {
  bind(context: Context): RunnableRow;
}

/** Untyped row declaration. `RowSpec` in `define-bench.ts` is the strict version for authors. */
interface LooseRowSpec<Context> {
  readonly name: string;
  readonly measures: Measures;
  readonly contestants: Readonly<Record<string, Contestant<Context, number | SampleByMeasure>>>;
  readonly bars?: readonly (Limit & { of?: string; against?: string; measure?: string })[];
}

export function makeRow<Context>(spec: LooseRowSpec<Context>): Row<Context> {
  const measures = resolveMeasures(spec.measures);
  const [first] = measures;
  if (first === undefined) throw new TypeError(`row "${spec.name}": no measures`);
  const contestants = inTableOrder(Object.keys(spec.contestants));
  const bars = (spec.bars ?? []).map(({ of = "ours", against, measure = first.name, ...limit }) => {
    const bar = { measure, of, limit };
    return against === undefined ? bar : Object.assign(bar, { against });
  });
  for (const bar of bars) {
    const objection = objectionToBar(bar, measures, contestants);
    if (objection !== undefined) throw new TypeError(`row "${spec.name}": ${objection}`);
  }
  const head: RowHead = { name: spec.name, measures, contestants, bars };
  return {
    ...head,
    bind: (context) => ({
      ...head,
      async run(contestant, signal) {
        const work = spec.contestants[contestant];
        if (work === undefined) throw new TypeError(`row "${spec.name}" has no contestant "${contestant}"`);
        return byMeasure(await work(context, signal), measures);
      },
    }),
  };
}

function inTableOrder(names: readonly string[]): string[] {
  const fixed = ["ours", "floor"].filter((name) => names.includes(name));
  return [...fixed, ...names.filter((name) => !fixed.includes(name))];
}

/** Rejects missing, negative and infinite numbers, which would become NaN in a ratio. */
function byMeasure(sample: number | SampleByMeasure, measures: readonly Measure[]): SampleByMeasure {
  const pairs = measures.map(({ name }) => {
    const value = typeof sample === "number" ? sample : sample[name];
    if (value === undefined || !Number.isFinite(value) || value < 0) {
      throw new RangeError(`expected a finite number ≥ 0 for "${name}", got ${value}`);
    }
    return [name, value] as const;
  });
  return Object.fromEntries(pairs);
}
