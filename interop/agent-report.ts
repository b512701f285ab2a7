import type { CheckReport, ConformanceReport } from "@codexkit/provider/conformance";

/** One behaviour of an agent that was looked at, and what was seen. */
export interface Finding {
  readonly what: string;
  readonly seen: string;
}

/** What the conformance suite found, without times. */
export interface ConformanceResult extends Pick<ConformanceReport, "conforms" | "tiers"> {
  readonly checks: readonly Omit<CheckReport, "tookMs">[];
}

/** What the interop run knows of an agent. The same agent gives the same report. */
export interface AgentReport {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  readonly api: string;
  readonly configuration: string;
  /** Why the agent behaves as it does, where that was looked into. */
  readonly note?: string | undefined;
  readonly outcome:
    | { readonly ran: true; readonly findings: readonly Finding[]; readonly conformance: ConformanceResult }
    /** It could not be run, for this reason. */
    | { readonly ran: false; readonly reason: string };
}
