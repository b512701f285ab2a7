// Generates the table of capabilities in docs/provider.md from the providers' declarations. Run this file to update it.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { acpCapabilities } from "../src/acp/acp-capabilities.ts";
import { CODEX_CAPABILITIES } from "../src/codex/codex-capabilities.ts";
import type { AgentCapabilities } from "../src/contract/capabilities.ts";
import { StubProvider } from "../src/stub/stub-provider.ts";

const DOCS = join(import.meta.dirname, "../../../docs/provider.md");
const BEGIN =
  "<!-- capabilities: node --conditions=codexkit:source packages/provider/scripts/capability-table.ts -->\n";
const END = "<!-- end of capabilities -->";

/** Each capability with its values for Codex, for ACP agents and for the stub. */
export function capabilityTable(): string[][] {
  const label = { humanLabel: "the agent's name" };
  // Capabilities that differ between the least and the most capable agent depend on the agent.
  const least = acpCapabilities(
    { capabilities: {}, canSteer: false },
    { ...label, supportsReasoningEffort: false, needsPermissionConfig: false },
  );
  const most = acpCapabilities(
    { capabilities: { loadSession: true }, canSteer: true },
    { ...label, supportsReasoningEffort: true, needsPermissionConfig: true },
  );
  const stub = new StubProvider().capabilities;
  const names = Object.keys(CODEX_CAPABILITIES) as (keyof AgentCapabilities)[];
  return [
    ["capability", "Codex", "ACP", "stub"],
    ...names.map((name) => [
      `\`${name}\``,
      wordFor(CODEX_CAPABILITIES[name]),
      least[name] === most[name] ? wordFor(least[name]) : "depends on agent",
      wordFor(stub[name]),
    ]),
  ];
}

/** The same table as it is in the docs. */
export async function documentedTable(): Promise<string[][]> {
  const { table } = split(await readFile(DOCS, "utf8"));
  const rows = table.split("\n").filter((line) => line.startsWith("|") && !/^\|[\s|:-]+$/.test(line));
  return rows.map((row) =>
    row
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

function wordFor(value: AgentCapabilities[keyof AgentCapabilities]): string {
  if (typeof value === "string") return value;
  return value ? "yes" : "no";
}

function split(text: string): { before: string; table: string; after: string } {
  const [from, to] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (from === -1 || to < from) throw new Error(`${DOCS} has no markers for the table: ${BEGIN} … ${END}`);
  const start = from + BEGIN.length;
  return { before: text.slice(0, start), table: text.slice(start, to), after: text.slice(to) };
}

if (import.meta.main) {
  const { before, after } = split(await readFile(DOCS, "utf8"));
  const [head = [], ...rows] = capabilityTable().map((cells) => `| ${cells.join(" | ")} |`);
  await writeFile(DOCS, `${before}\n${[head, "|---|---|---|---|", ...rows].join("\n")}\n\n${after}`);
}
