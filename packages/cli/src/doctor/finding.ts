/** The outcome of one check. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warning" | "failed";
  readonly message: string;
  /** What to do about it. */
  readonly fix?: string;
}

/** How long one program that a check runs may take. */
export const PROGRAM_MS = 20_000;
