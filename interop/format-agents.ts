import type { CheckReport } from "@codexkit/provider/conformance";
import type { AgentReport, ConformanceResult } from "./agent-report.ts";

/** The page of all agents, as Markdown. */
export function formatAgents(reports: readonly AgentReport[]): string {
  return [
    "# ACP agents",
    "",
    "<!-- Written by `npm run interop`. Don't edit. -->",
    "",
    "What `AcpProvider` makes of real agents that speak the Agent Client Protocol. `npm run interop` installs each of them from the",
    "npm registry, starts it in a home of its own on a fake model on loopback, and runs the conformance suite of",
    "[`@codexkit/provider`](provider.md) on it, and some probes besides. No agent has an account or a network.",
    "",
    ...table(
      ["agent", "package", "conforms", "event-contract", "injection", "resume", "adaptation-receipt"],
      reports.map(summaryOf),
    ),
    "",
    ...reports.flatMap(sectionOf),
  ].join("\n");
}

function summaryOf({ name, package: packageName, version, outcome }: AgentReport): string[] {
  const cells = [`[${name}](#${name})`, `\`${packageName}@${version}\``];
  if (!outcome.ran) return [...cells, "not run", "", "", "", ""];
  const { conforms, tiers, checks } = outcome.conformance;
  const open = checks.filter(({ status }) => status === "not_verified").length;
  const verdict = `${conforms ? "yes" : "no"}${open === 0 ? "" : ` (${open} of ${checks.length} checks not verified)`}`;
  return [...cells, verdict, ...tiers.map(({ status }) => words(status))];
}

function sectionOf(report: AgentReport): string[] {
  const { name, package: packageName, version, api, configuration, outcome } = report;
  const head = [
    `## ${name}`,
    "",
    `\`${packageName}@${version}\` on a fake of the API ${api}. Configured with ${configuration}.`,
    "",
  ];
  if (!outcome.ran) return [...head, `It could not be run: ${cell(outcome.reason)}`, ""];
  return [
    ...head,
    ...table(
      ["behaviour", "seen"],
      outcome.findings.map(({ what, seen }) => [what, cell(seen)]),
    ),
    "",
    ...(report.note === undefined ? [] : [report.note, ""]),
    ...conformanceOf(outcome.conformance),
  ];
}

function conformanceOf({ checks }: ConformanceResult): string[] {
  const count = (status: CheckReport["status"]): number =>
    checks.filter((check) => check.status === status).length;
  const failed = checks.filter(({ status }) => status === "failed");
  const open = checks.filter(({ status }) => status === "not_applicable" || status === "not_verified");
  return [
    `Conformance: ${count("passed")} of ${checks.length} checks passed, ${count("failed")} failed, ${count("not_applicable")} did not apply, ${count("not_verified")} were not verified.`,
    "",
    ...optionalTable(["why it failed", "checks"], byReason(failed)),
    ...optionalTable(["why it did not run", "checks"], byReason(open)),
  ];
}

/** Checks that share a reason share a row. */
function byReason(checks: ConformanceResult["checks"]): string[][] {
  const groups = Map.groupBy(checks, ({ reason = "" }) => cell(reason));
  return [...groups].map(([reason, group]) => [reason, group.map(({ id }) => `\`${id}\``).join(", ")]);
}

function optionalTable(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return rows.length === 0 ? [] : [...table(head, rows), ""];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

function words(status: string): string {
  return status.replaceAll("_", " ");
}

/** Text in a cell: on one line, and without what Markdown reads as the end of a cell or as a tag. */
function cell(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll("|", String.raw`\|`)
    .replaceAll("<", "&lt;")
    .trim();
}
