import type { ConformanceTier } from "./conformance-report.ts";
import type { Workbench } from "./workbench.ts";

/** One behaviour that the contract asks for. It passes by returning, fails by throwing, and may throw that it does not apply. */
export interface Check {
  readonly id: string;
  readonly tier: ConformanceTier;
  /** A sentence about the provider, such as "ends the stream when it is stopped". */
  readonly title: string;
  /** The tier is not earned unless this one ran and passed. */
  readonly earns?: boolean;
  run(bench: Workbench): Promise<void>;
}

/** Thrown by a check that can't tell. */
export class NotRun extends Error {
  override readonly name = "NotRun";
  readonly status: "not_applicable" | "not_verified";

  constructor(status: NotRun["status"], reason: string) {
    super(reason);
    this.status = status;
  }
}

/** The provider says that it does not do this. */
export function notApplicable(reason: string): NotRun {
  return new NotRun("not_applicable", reason);
}

/** What the check needs was not given. */
export function notVerified(reason: string): NotRun {
  return new NotRun("not_verified", reason);
}
