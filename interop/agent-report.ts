import type { AgentBehaviour } from "./agent-definition.ts";
import type { CheckReport, ConformanceReport } from "@codexkit/provider/conformance";

/** The result of one probe. */
export interface Finding {
  readonly what: string;
  readonly seen: string;
}

/** The result of the conformance suite, without durations. */
export interface ConformanceResult extends Pick<ConformanceReport, "conforms" | "tiers"> {
  readonly checks: readonly Omit<CheckReport, "tookMs">[];
}

/** The report of one agent. Deterministic for the same version of the agent. */
export interface AgentReport {
  readonly name: string;
  readonly package: string;
  readonly version: string;
  readonly api: string;
  readonly configuration: string;
  /** A remark about the agent. */
  readonly note?: string | undefined;
  readonly behaviours?: readonly AgentBehaviour[] | undefined;
  readonly outcome:
    | { readonly ran: true; readonly findings: readonly Finding[]; readonly conformance: ConformanceResult }
    /** The agent could not be run. */
    | { readonly ran: false; readonly reason: string };
}
