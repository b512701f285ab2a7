// The suite that checks a provider against the contract.
import "../require-node.ts";
export { runConformance } from "./run-conformance.ts";
export { registerConformance, type TestRunner } from "./register-conformance.ts";
export { formatReport } from "./format-report.ts";
export {
  CONFORMANCE_LIMITS,
  type ConformanceLimits,
  type ConformanceOptions,
  type ConformanceScenarios,
  type ProviderFactory,
} from "./harness/conformance-options.ts";
export {
  CONFORMANCE_TIERS,
  type CheckReport,
  type CheckStatus,
  type ConformanceReport,
  type ConformanceTier,
  type TierReport,
} from "./harness/conformance-report.ts";
