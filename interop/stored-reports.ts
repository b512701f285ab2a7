import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { AgentDefinition } from "./agent-definition.ts";
import { AGENTS } from "./agent-list.ts";
import type { AgentReport } from "./agent-report.ts";

const FOLDER = fileURLToPath(new URL("reports/", import.meta.url));

type StoredReport = Pick<AgentReport, "version" | "outcome">;

export function reportFile(name: string): string {
  return join(FOLDER, `${name}.json`);
}

export async function writeReport({ name, version, outcome }: AgentReport): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  const stored: StoredReport = { version, outcome };
  await writeFile(reportFile(name), `${JSON.stringify(stored, undefined, 2)}\n`);
}

/** The stored reports of all agents, in the order of the page. */
export function readReports(): Promise<readonly AgentReport[]> {
  return Promise.all(AGENTS.map(readReport));
}

async function readReport({
  name,
  package: packageName,
  api,
  configuration,
  note,
  behaviours,
}: AgentDefinition): Promise<AgentReport> {
  const text = await readFile(reportFile(name), "utf8").catch((cause: unknown) => {
    throw new Error(`There is no report for ${name}. Run \`npm run interop -- ${name}\`.`, { cause });
  });
  const { version, outcome } = JSON.parse(text) as StoredReport;
  return { name, package: packageName, api, configuration, note, behaviours, version, outcome };
}
