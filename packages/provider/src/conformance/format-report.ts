import type { CheckStatus, ConformanceReport, TierReport } from "./harness/conformance-report.ts";

const MARKS: Record<CheckStatus, string> = {
  passed: "✓",
  failed: "✗",
  not_applicable: "–",
  not_verified: "?",
};

/** Formats a report as text: the tiers, each check with its reason, and what was not verified. */
export function formatReport(report: ConformanceReport): string {
  const counts = (["passed", "failed", "not_applicable", "not_verified"] as const).map(
    (status) => `${report.checks.filter((check) => check.status === status).length} ${words(status)}`,
  );
  return [
    `${report.provider}: ${report.conforms ? "conforms" : "does not conform"} (${counts.join(", ")})`,
    "",
    ...report.tiers.map(tierLine),
    ...report.tiers.flatMap(({ tier }) => [
      "",
      tier,
      ...report.checks
        .filter((check) => check.tier === tier)
        .map(({ status, id, title, reason }) => {
          const why = reason === undefined ? "" : `\n      ${words(status)}: ${reason}`;
          return `  ${MARKS[status]} ${id}: ${title}${why}`;
        }),
    ]),
    "",
    "not verified",
    ...report.notVerified.map(({ what, reason }) => `  ? ${what}\n      ${reason}`),
    "",
  ].join("\n");
}

function tierLine({ tier, status, reason }: TierReport): string {
  return `  ${tier}: ${words(status)}${reason === undefined ? "" : ` (${reason})`}`;
}

function words(status: string): string {
  return status.replaceAll("_", " ");
}
