import { say } from "@codexkit/scripted-model";
import { tempFolder } from "@codexkit/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FinishedCli, runCli } from "./cli-process.ts";
import { openScriptedCli, type ScriptedCli } from "./scripted-cli.ts";

let cli: ScriptedCli;

beforeAll(async () => {
  cli = await openScriptedCli({ hello: [[say("Hello.", { phase: "final_answer" })]] });
});

afterAll(() => cli[Symbol.asyncDispose]());

test("login stores a key from stdin, account names it, and logout removes it", async () => {
  await using home = await tempFolder("cli-account");
  const env = { ...cli.env, CODEX_HOME: home.path, HOME: home.path };
  const run = (args: readonly string[], input = ""): Promise<FinishedCli> => runCli(args, { env, input });
  const before = await run(["account"]);
  const login = await run(["login", "--api-key"], "sk-test-key\n");
  const stored = await readFile(join(home.path, "auth.json"), "utf8");
  const account = await run(["account"]);
  const json = await run(["account", "--json"]);
  const logout = await run(["logout"]);
  const again = await run(["logout", "--json"]);

  expect(before).toMatchObject({ exitCode: 1, stdout: "" });
  expect(before.stderr).toMatch(/^error: You are not signed in\.\nRun `codexkit login`/);
  expect(login).toMatchObject({ exitCode: 0, stdout: "Signed in: API key.\n" });
  expect(stored).toContain("sk-test-key");
  expect(account).toMatchObject({ exitCode: 0, stdout: "API key\n" });
  expect(JSON.parse(json.stdout)).toMatchObject({ account: { type: "apiKey" }, requiresOpenaiAuth: true });
  expect(logout).toMatchObject({ exitCode: 0, stdout: "Signed out.\n" });
  expect(JSON.parse(again.stdout)).toEqual({ account: null, wasSignedIn: false });
});

test.each([
  [["--api-key"], "", "error: stdin has no API key.\n"],
  [["--api-key", "--device"], "", "error: --api-key and --device can't be used together.\n"],
])("login %j without a usable key exits with 2", async (args, input, message) => {
  const { exitCode, stderr } = await cli.run(["login", ...args], { input });

  expect(exitCode).toBe(2);
  expect(stderr.startsWith(message)).toBe(true);
});

test("models lists names, efforts and the default", async () => {
  const [table, json] = await Promise.all([cli.run(["models"]), cli.run(["models", "--json"])]);
  const models = json.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { model: string; isDefault: boolean });
  const name = models.find(({ isDefault }) => isDefault)?.model;

  expect(table.exitCode).toBe(0);
  expect(table.stdout).toMatch(/^MODEL +EFFORTS +DESCRIPTION\n/);
  expect(table.stdout).toMatch(new RegExp(String.raw`^${name} \(default\) .*\bmedium\b`, "m"));
  expect(table.stdout.trim().split("\n")).toHaveLength(models.length + 1);
});

describe("threads", () => {
  test("lists those of run, and shows one with its history", async () => {
    const nothing = await cli.run(["threads"]);
    await cli.run(["run", "hello"]);
    const [table, json] = await Promise.all([
      cli.run(["threads", "list", "--here"]),
      cli.run(["threads", "--json"]),
    ]);
    const { id } = JSON.parse(json.stdout) as { id: string };
    const [found, shown] = await Promise.all([
      cli.run(["threads", "list", "--search", "nothing like it"]),
      cli.run(["threads", "show", id]),
    ]);

    expect(nothing).toMatchObject({ exitCode: 0, stdout: "", stderr: "No threads found.\n" });
    expect(table.stdout).toContain(id);
    expect(found).toMatchObject({ exitCode: 0, stdout: "" });
    expect(shown.stdout).toContain(`hello\n  thread  ${id}\n  folder  ${cli.workspace}\n`);
    expect(shown.stdout).toMatch(/^› hello\n\nHello\.$/m);
  });

  test("an unknown thread exits with 1", async () => {
    const { exitCode, stderr } = await cli.run(["threads", "show", "01a1e50e-565a-7570-a653-4486818807cf"]);

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: There is no thread "01a1e50e-\S+"\.\nRun `codexkit threads`/);
  });
});
