/** Whether a bigger or a smaller number wins. */
export type Better = "higher" | "lower";

/** The units a row may name without saying more; each knows who wins and what a lone measure in it is called. */
export const units = {
  "ops/s": { better: "higher", measure: "throughput" },
  "msg/s": { better: "higher", measure: "throughput" },
  "MB/s": { better: "higher", measure: "throughput" },
  s: { better: "lower", measure: "time" },
  ms: { better: "lower", measure: "time" },
  µs: { better: "lower", measure: "time" },
  MB: { better: "lower", measure: "memory" },
  KB: { better: "lower", measure: "size" },
} as const satisfies Record<string, { better: Better; measure: string }>;

export type Unit = keyof typeof units;

/** A unit the table above does not know has to say who wins. */
export interface CustomUnit {
  readonly unit: string;
  readonly better: Better;
}

/** One line of a row's table: what is measured, in which unit, and who wins. */
export interface Measure extends CustomUnit {
  readonly name: string;
}

/** What a row declares: one unit for samples that are plain numbers, or a unit for each named measure. */
export type Measures = Unit | Readonly<Record<string, Unit | CustomUnit>>;

export function resolveMeasures(measures: Measures): readonly Measure[] {
  if (typeof measures === "string") return [resolve(units[measures].measure, measures)];
  return Object.entries(measures).map(([name, unit]) => resolve(name, unit));
}

function resolve(name: string, unit: Unit | CustomUnit): Measure {
  return typeof unit === "string" ? { name, unit, better: units[unit].better } : { name, ...unit };
}
