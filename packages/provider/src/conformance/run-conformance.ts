import type { AgentCapabilities } from "../contract/capabilities.ts";
import { ALL_CHECKS } from "./all-checks.ts";
import type { ConformanceOptions, ProviderFactory } from "./harness/conformance-options.ts";
import {
  type CheckReport,
  CONFORMANCE_TIERS,
  type ConformanceReport,
  type ConformanceTier,
  type TierReport,
} from "./harness/conformance-report.ts";
import { runCheck } from "./run-check.ts";
import { SuiteContext } from "./harness/suite-context.ts";

/** What the suite can't check. */
const BEYOND: ConformanceReport["notVerified"] = [
  {
    what: "the effect of fields that are honoured (model, effort, instructions, sandbox, tools)",
    reason: "the suite sees the ignored fields, not the internals of the agent",
  },
];

/**
 * Checks that a provider follows the contract. Never rejects because of the provider: if it hangs or throws, the check fails
 * and the run continues.
 *
 * @example
 * const report = await runConformance(() => new StubProvider(), {
 *   scenarios: {
 *     says: (words) => ({ prompt: words, cwd }),
 *     works: () => ({ prompt: "Work", cwd, providerConfig: { behaviour: "hang-then-timeout" } }),
 *   },
 * });
 * console.log(formatReport(report));
 */
export async function runConformance(
  factory: ProviderFactory,
  options: ConformanceOptions,
): Promise<ConformanceReport> {
  const suite = new SuiteContext(factory, options);
  const checks: CheckReport[] = [];
  try {
    for (const check of ALL_CHECKS) {
      const report = await runCheck(suite, check);
      checks.push(report);
      options.onCheck?.(report);
    }
    const provider = await suite.provider().catch(() => undefined);
    return reportOf(checks, provider);
  } finally {
    await suite.replaceProvider().catch(() => {});
  }
}

function reportOf(
  checks: readonly CheckReport[],
  provider: { readonly name: string; readonly capabilities: AgentCapabilities } | undefined,
): ConformanceReport {
  const skipped = checks.flatMap(({ status, title, reason = "" }) =>
    status === "not_verified" ? [{ what: title, reason }] : [],
  );
  return {
    provider: provider?.name ?? "(could not be created)",
    ...(provider && { capabilities: { ...provider.capabilities } }),
    conforms: checks.every(({ status }) => status !== "failed"),
    tiers: CONFORMANCE_TIERS.map((tier) => tierReport(tier, checks)),
    checks,
    notVerified: [...skipped, ...BEYOND],
  };
}

function tierReport(tier: ConformanceTier, checks: readonly CheckReport[]): TierReport {
  const failed = checks.filter((check) => check.tier === tier && check.status === "failed");
  if (failed.length > 0) {
    return { tier, status: "failed", reason: `failed: ${failed.map(({ id }) => id).join(", ")}` };
  }
  const earning = new Set(ALL_CHECKS.filter(({ earns }) => earns === true).map(({ id }) => id));
  const missing = checks.find(
    (check) => check.tier === tier && earning.has(check.id) && check.status !== "passed",
  );
  return missing
    ? { tier, status: "not_earned", reason: `${missing.id} did not run: ${missing.reason ?? ""}` }
    : { tier, status: "earned" };
}
