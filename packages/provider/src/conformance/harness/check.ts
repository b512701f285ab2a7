import type { ConformanceTier } from "./conformance-report.ts";
import type { CheckContext } from "./check-context.ts";

/** One behaviour that the contract requires. `run` resolves if it passes and rejects if it fails or does not apply. */
export interface Check {
  readonly id: string;
  readonly tier: ConformanceTier;
  /** A sentence about the provider, such as "ends the stream when it is stopped". */
  readonly title: string;
  /** Whether the tier is earned only if this check passes. */
  readonly earns?: boolean;
  run(context: CheckContext): Promise<void>;
}

/** Thrown by a check that has no verdict. */
export class NotRun extends Error {
  override readonly name = "NotRun";
  readonly status: "not_applicable" | "not_verified";

  constructor(status: NotRun["status"], reason: string) {
    super(reason);
    this.status = status;
  }
}

/** The provider declares that it does not support this. */
export function notApplicable(reason: string): NotRun {
  return new NotRun("not_applicable", reason);
}

/** The check needs a scenario or a sample that is missing. */
export function notVerified(reason: string): NotRun {
  return new NotRun("not_verified", reason);
}
