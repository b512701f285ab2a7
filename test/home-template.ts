// A vitest global setup: Codex sets up one home, and the tests start from copies of it, because most need a home of their own.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const PROGRAM = `
  import { createHomeTemplate } from "@codexkit/testing";
  await createHomeTemplate(process.argv[1]);
`;

export default async function setup(): Promise<() => Promise<void>> {
  const template = await mkdtemp(join(tmpdir(), "home-template-"));
  // A separate process, because this one does not resolve packages to their sources.
  const args = ["--conditions=codexkit:source", "--input-type=module", "--eval", PROGRAM, template];
  await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
  process.env["CODEXKIT_HOME_TEMPLATE"] = template;
  return () => rm(template, { recursive: true });
}
