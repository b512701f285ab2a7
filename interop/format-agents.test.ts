import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { AGENTS } from "./agent-list.ts";
import type { AgentReport } from "./agent-report.ts";
import { explain, formatAgents } from "./format-agents.ts";
import { pinnedVersion } from "./install-agents.ts";
import { readReports } from "./stored-reports.ts";
import { withoutRunValues } from "./without-run-values.ts";

const AGENT = { name: "a", package: "@x/a", version: "1.2.3", api: "Fake", configuration: "nothing" };

it("reports why an agent could not be run, without values that differ between runs", () => {
  const reason =
    "spawn /tmp/run-1/home/a failed at 1794784556611\nfor 0a1b2c3d-0000-4000-8000-000000000000 | <x>";
  const report: AgentReport = withoutRunValues({ ...AGENT, outcome: { ran: false, reason } }, "/tmp/run-1");
  const page = formatAgents([report]);
  expect(page).toContain("| [a](#a) | `@x/a@1.2.3` | not run |");
  expect(page).toContain(
    String.raw`It could not be run: spawn &lt;folder>/home/a failed at &lt;time> for &lt;id> \| &lt;x>`,
  );
});

it("lists the findings and every check that did not pass", () => {
  const checks = [
    { id: "good", tier: "resume", title: "is good", status: "passed" },
    { id: "open", tier: "resume", title: "is open", status: "not_verified", reason: "no scenario" },
    { id: "shut", tier: "resume", title: "is shut", status: "not_verified", reason: "no scenario" },
    { id: "bad", tier: "resume", title: "is bad", status: "failed", reason: "it is bad" },
  ] as const;
  const page = formatAgents([
    {
      ...AGENT,
      outcome: {
        ran: true,
        findings: [{ what: "usage", seen: "right" }],
        conformance: {
          conforms: false,
          tiers: [{ tier: "resume", status: "failed" }],
          checks,
        },
      },
    },
  ]);
  expect(page).toContain("| usage | right |");
  expect(page).toContain("1 of 4 checks passed, 1 failed");
  expect(page).toContain("| it is bad | Not explained. | `bad` |");
  expect(page).toContain("| no scenario | `open`, `shut` |");
  expect(page).not.toContain("`good`");
});

it("matches docs/acp-agents.md, with a report for every agent in its pinned version", async () => {
  const reports = await readReports();
  expect(reports.map(({ package: name, version }) => `${name}@${version}`)).toEqual(
    AGENTS.map((agent) => `${agent.package}@${pinnedVersion(agent.package)}`),
  );
  const page = await readFile(fileURLToPath(new URL("../docs/acp-agents.md", import.meta.url)), "utf8");
  // The formatter aligns tables.
  const plain = (text: string): string => text.replaceAll(/ +/g, " ").replaceAll(/-{3,}/g, "---").trim();
  expect(plain(page), "run `npm run interop`").toBe(plain(formatAgents(reports)));
});

it("explains every check that a real agent fails", async () => {
  const unexplained = (await readReports()).flatMap(({ name, outcome, behaviours = [] }) => {
    const checks = outcome.ran ? outcome.conformance.checks : [];
    const failed = checks.filter(({ status }) => status === "failed");
    return failed
      .filter(({ reason = "" }) => explain(reason, behaviours) === undefined)
      .map(({ id, reason }) => `${name}: ${id}: ${reason}`);
  });
  expect(unexplained).toEqual([]);
});
