/** The variable that vitest.soak.config.ts sets. */
const SOAK = "CODEXKIT_SOAK";

/** Whether `npm run soak` is running, and not `npm test`. */
export const isSoak: boolean = process.env[SOAK] !== undefined;

export interface RepetitionCounts {
  /** Enough to test the behaviour. */
  readonly test: number;
  /** Enough to find a rare race. */
  readonly soak: number;
}

/** Returns how often a test repeats something that rarely fails. The soak tests include every test file that calls this. */
export function repetitions({ test, soak }: RepetitionCounts): number {
  return isSoak ? soak : test;
}
