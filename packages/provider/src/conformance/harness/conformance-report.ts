import type { AgentCapabilities } from "../../contract/capabilities.ts";

/** What a provider can be certified for. */
export const CONFORMANCE_TIERS = ["event-contract", "injection", "resume", "adaptation-receipt"] as const;

export type ConformanceTier = (typeof CONFORMANCE_TIERS)[number];

export type CheckStatus =
  | "passed"
  | "failed"
  /** The provider declares that it does not support this. Never earns a tier. */
  | "not_applicable"
  /** A scenario or a sample is missing. Never earns a tier. */
  | "not_verified";

export interface CheckReport {
  readonly id: string;
  readonly tier: ConformanceTier;
  /** The expected behaviour. */
  readonly title: string;
  readonly status: CheckStatus;
  /** The failure, or why the check has no verdict. Set unless the check passed. */
  readonly reason?: string;
  readonly tookMs: number;
}

export interface TierReport {
  readonly tier: ConformanceTier;
  /** `earned`: its checks passed. `not_earned`: none failed, but a required check did not run. */
  readonly status: "earned" | "not_earned" | "failed";
  /** Why it was not earned. */
  readonly reason?: string;
}

/** The result of a run. Serialisable as JSON. */
export interface ConformanceReport {
  readonly provider: string;
  /** The declared capabilities. Absent if the provider could not be created. */
  readonly capabilities?: AgentCapabilities;
  /** Whether no check failed. Checks that were not verified may hide faults. */
  readonly conforms: boolean;
  readonly tiers: readonly TierReport[];
  readonly checks: readonly CheckReport[];
  /** What this run did not verify, and why. */
  readonly notVerified: readonly { readonly what: string; readonly reason: string }[];
}
