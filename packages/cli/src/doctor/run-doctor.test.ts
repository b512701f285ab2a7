import { type TempFolder, tempFolder } from "@codexkit/testing";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type FinishedCli, runCli } from "../../test/cli-process.ts";
import type { Finding } from "./finding.ts";

let home: TempFolder;
beforeAll(async () => {
  home = await tempFolder("doctor");
  await mkdir(join(home.path, ".codex"));
  await mkdir(join(home.path, "temp"));
});
afterAll(async () => home[Symbol.asyncDispose]());

const doctor = async (args: string[], env: Record<string, string> = {}): Promise<FinishedCli> =>
  runCli(["doctor", ...args], {
    cwd: home.path,
    env: { HOME: home.path, TMPDIR: join(home.path, "temp"), ...env },
  });

function toFindings({ stdout }: FinishedCli): Map<string, Finding> {
  const findings = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Finding);
  return new Map(findings.map((finding) => [finding.check, finding]));
}

test("a machine without credentials gets a warning with its fix", async () => {
  const result = await doctor(["--json"]);
  const findings = toFindings(result);

  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  expect([...findings.keys()]).toEqual([
    "node",
    "leftovers",
    "codex",
    "credentials",
    "sandbox",
    "terminals",
    "store",
    "port",
  ]);
  expect(findings.get("codex")).toMatchObject({
    status: "ok",
    message: expect.stringMatching(/^0\.\d+\.\d+, from the npm package: /) as string,
  });
  expect(findings.get("credentials")).toMatchObject({
    status: "warning",
    fix: expect.stringContaining("codexkit login") as string,
  });
  expect(findings.get("sandbox")).toMatchObject({ status: "ok" });
  expect(findings.get("terminals")).toMatchObject({ status: "ok" });
});

test("what is wrong is named with its fix, and the exit code is 1", async () => {
  await writeFile(join(home.path, "codex"), "#!/bin/sh\nexit 7\n", { mode: 0o755 });
  await writeFile(join(home.path, ".codex/auth.json"), "{}");
  await writeFile(join(home.path, "file"), "");
  const result = await doctor(["--json", "--store", "file/store"], { CODEX_BIN: "./codex" });
  const findings = toFindings(result);

  expect(result).toMatchObject({ exitCode: 1, stderr: "" });
  expect(findings.get("codex")).toMatchObject({
    status: "failed",
    fix: expect.stringContaining("CODEX_BIN") as string,
  });
  expect(findings.get("credentials")).toMatchObject({
    status: "failed",
    fix: "Run `codexkit login`, or delete the file.",
  });
  expect(findings.get("sandbox")).toMatchObject({ status: "failed" });
  expect(findings.get("store")).toMatchObject({
    status: "failed",
    fix: expect.stringContaining("--store") as string,
  });
});

test("a missing codex is one finding of several", async () => {
  const { exitCode, stdout } = await doctor([], { CODEX_BIN: join(home.path, "missing") });

  expect(exitCode).toBe(1);
  expect(stdout).toContain("✗ codex        $CODEX_BIN names a file that does not exist");
  expect(stdout).toContain("               Run `npm install @openai/codex`, or set CODEX_BIN");
  expect(stdout).toContain("! sandbox      Not checked, because it needs codex.");
  expect(stdout).toContain("✓ terminals ");
});

test("state files of killed daemons are found, and removed with --fix", async () => {
  await mkdir(join(home.path, ".codexkit/daemons"), { recursive: true });
  await writeFile(join(home.path, ".codexkit/daemons/1.json"), "not JSON");
  const missing = { CODEX_BIN: join(home.path, "missing") };
  const found = await doctor([], missing);
  await doctor(["--fix"], missing);
  const fixed = await doctor([], missing);

  expect(found.stdout).toContain("! leftovers    1 state files of daemons that were killed");
  expect(found.stdout).toContain("Run `codexkit doctor --fix`.");
  expect(fixed.stdout).not.toContain("state files");
});
