/** Whether higher or lower numbers are better. */
export type Better = "higher" | "lower";

/** Known units with the better direction and the default name of their measure. */
export const units = {
  "ops/s": { better: "higher", measure: "throughput" },
  "msg/s": { better: "higher", measure: "throughput" },
  "events/s": { better: "higher", measure: "throughput" },
  "MB/s": { better: "higher", measure: "throughput" },
  s: { better: "lower", measure: "time" },
  ms: { better: "lower", measure: "time" },
  µs: { better: "lower", measure: "time" },
  MB: { better: "lower", measure: "memory" },
  KB: { better: "lower", measure: "size" },
} as const satisfies Record<string, { better: Better; measure: string }>;

export type Unit = keyof typeof units;

/** A unit that is not in the table above. */
export interface CustomUnit {
  readonly unit: string;
  readonly better: Better;
}

/** A measure with its unit and direction. */
export interface Measure extends CustomUnit {
  readonly name: string;
}

/** The measures of a row: one unit, or a unit per named measure. */
export type Measures = Unit | Readonly<Record<string, Unit | CustomUnit>>;

export function resolveMeasures(measures: Measures): readonly Measure[] {
  if (typeof measures === "string") return [resolve(units[measures].measure, measures)];
  return Object.entries(measures).map(([name, unit]) => resolve(name, unit));
}

function resolve(name: string, unit: Unit | CustomUnit): Measure {
  return typeof unit === "string" ? { name, unit, better: units[unit].better } : { name, ...unit };
}
