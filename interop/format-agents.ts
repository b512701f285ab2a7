import type { CheckReport } from "@codexkit/provider/conformance";
import type { AgentBehaviour } from "./agent-definition.ts";
import type { AgentReport, ConformanceResult } from "./agent-report.ts";

/** The page of all agents, as Markdown. */
export function formatAgents(reports: readonly AgentReport[]): string {
  return [
    "# ACP agents",
    "",
    "<!-- Written by `npm run interop`. Don't edit. -->",
    "",
    "Test results of `AcpProvider` with real agents that speak the Agent Client Protocol. `npm run interop` installs each agent from",
    "the npm registry, starts it with its own home folder and a fake model on loopback, and runs some probes and the conformance",
    "suite of [`@codexkit/provider`](provider.md). The agents have no account and no network access. Where a check fails because of",
    "the agent's own behaviour, the table has the explanation.",
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
    `\`${packageName}@${version}\`, with a fake model that implements the ${api} API. Configuration: ${configuration}.`,
    "",
  ];
  if (!outcome.ran) return [...head, `It could not be run: ${cell(outcome.reason)}`, ""];
  return [
    ...head,
    ...table(
      ["probe", "result"],
      outcome.findings.map(({ what, seen }) => [what, cell(seen)]),
    ),
    "",
    ...(report.note === undefined ? [] : [report.note, ""]),
    ...conformanceOf(outcome.conformance, report.behaviours ?? []),
  ];
}

function conformanceOf({ checks }: ConformanceResult, behaviours: readonly AgentBehaviour[]): string[] {
  const count = (status: CheckReport["status"]): number =>
    checks.filter((check) => check.status === status).length;
  const failed = checks.filter(({ status }) => status === "failed");
  const open = checks.filter(({ status }) => status === "not_applicable" || status === "not_verified");
  return [
    `Conformance: ${count("passed")} of ${checks.length} checks passed, ${count("failed")} failed, ${count("not_applicable")} did not apply, ${count("not_verified")} were not verified.`,
    "",
    ...optionalTable(
      ["failure", "explanation", "checks"],
      byReason(failed).map(([reason = "", ids = ""]) => [
        cell(reason),
        cell(explain(reason, behaviours) ?? "Not explained."),
        ids,
      ]),
    ),
    ...optionalTable(
      ["why it has no verdict", "checks"],
      byReason(open).map(([reason = "", ids = ""]) => [cell(reason), ids]),
    ),
  ];
}

/** Explains a failed check, if the agent's own behaviour causes it. */
export function explain(failure: string, behaviours: readonly AgentBehaviour[]): string | undefined {
  return behaviours.find((behaviour) => behaviour.failure.test(failure))?.explanation;
}

/** Groups the ids of the checks by reason. */
function byReason(checks: ConformanceResult["checks"]): string[][] {
  const groups = Map.groupBy(checks, ({ reason = "" }) => reason);
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

/** Escapes text for a table cell. */
function cell(text: string): string {
  return text
    .replaceAll(/\s+/g, " ")
    .replaceAll("|", String.raw`\|`)
    .replaceAll("<", "&lt;")
    .trim();
}
