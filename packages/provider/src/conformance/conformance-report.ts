import type { AgentCapabilities } from "../contract/capabilities.ts";

/** What a provider can be certified for. */
export const CONFORMANCE_TIERS = ["event-contract", "injection", "resume", "adaptation-receipt"] as const;

export type ConformanceTier = (typeof CONFORMANCE_TIERS)[number];

export type CheckStatus =
  | "passed"
  | "failed"
  /** The provider says that it does not do this, so that there is nothing to check. Never earns a tier. */
  | "not_applicable"
  /** What is needed to check it was not given. Never earns a tier. */
  | "not_verified";

export interface CheckReport {
  readonly id: string;
  readonly tier: ConformanceTier;
  /** The behaviour that was looked for. */
  readonly title: string;
  readonly status: CheckStatus;
  /** What went wrong, or why it was not checked; set unless it passed. */
  readonly reason?: string;
  readonly tookMs: number;
}

export interface TierReport {
  readonly tier: ConformanceTier;
  /** `earned` by checks that ran and passed; `not_earned` when nothing failed but its proof did not run. */
  readonly status: "earned" | "not_earned" | "failed";
  /** Why it was not earned. */
  readonly reason?: string;
}

/** What the suite found. A plain value: it can be written as JSON. */
export interface ConformanceReport {
  readonly provider: string;
  /** What the provider says of itself; absent when it could not even be made. */
  readonly capabilities?: AgentCapabilities;
  /** Whether no check failed. What was not verified is not known to be right. */
  readonly conforms: boolean;
  readonly tiers: readonly TierReport[];
  readonly checks: readonly CheckReport[];
  /** What this run says nothing about, and why. */
  readonly notVerified: readonly { readonly what: string; readonly reason: string }[];
}
