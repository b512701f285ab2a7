// Runs the conformance suite on real ACP agents: `npm run interop [agent …]`. Without names it runs all of them. Writes the
// reports to interop/reports, and generates docs/acp-agents.md from them. On an interrupt, the remaining checks are reported as
// not verified.
import { spawnSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { AGENTS } from "./agent-list.ts";
import { formatAgents } from "./format-agents.ts";
import { installAgents } from "./install-agents.ts";
import { runAgent } from "./run-agent.ts";
import { readReports, reportFile, writeReport } from "./stored-reports.ts";

const PAGE = fileURLToPath(new URL("../docs/acp-agents.md", import.meta.url));

const names = process.argv.slice(2);
const known = AGENTS.map(({ name }) => name);
const unknown = names.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`Unknown agents: ${unknown.join(", ")}. Expected any of ${known.join(", ")}.`);
  process.exit(2);
}

const interrupted = new AbortController();
process.once("SIGINT", () => interrupted.abort());

installAgents();
for (const agent of AGENTS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  if (interrupted.signal.aborted) break;
  console.log(agent.name);
  const report = await runAgent(agent, {
    signal: interrupted.signal,
    onProbe: (what) => console.log(`  probing: ${what}`),
    onCheck: ({ id, status, reason }) =>
      console.log(`  ${id}: ${status}${status === "failed" ? `: ${reason}` : ""}`),
  });
  if (!report.outcome.ran) console.log(`  could not be run: ${report.outcome.reason}`);
  await writeReport(report);
}
await writeFile(PAGE, formatAgents(await readReports()));
spawnSync("oxfmt", [PAGE, ...known.map(reportFile)], { shell: process.platform === "win32" });
