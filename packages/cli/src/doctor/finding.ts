/** The outcome of one check. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  readonly message: string;
  /** How to fix the problem. */
  readonly fix?: string;
}

/** Timeout for each program that a check runs. */
export const PROGRAM_MS = 20_000;
