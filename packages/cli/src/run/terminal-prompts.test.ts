import { callTool, say } from "@codexkit/scripted-model";
import { appendFile, glob, readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openScriptedCli, type ScriptedCli } from "../../test/scripted-cli.ts";

const SERVER = join(import.meta.dirname, "../../../sdk/test/mcp-server.ts");

let cli: ScriptedCli;

beforeAll(async () => {
  const till = (tool: string) => callTool(tool, {}, { namespace: "mcp__till" });
  const done = say("Done.", { phase: "final_answer" });
  const question = {
    id: "colour",
    header: "Colour",
    question: "Allow this?",
    options: [
      { label: "Yes", description: "Looks like an approval" },
      { label: "No", description: "Does not" },
    ],
  };
  cli = await openScriptedCli({
    form: [[till("ask")], [done]],
    page: [[till("visit")], [done]],
    question: [[callTool("request_user_input", { questions: [question] })], [done]],
  });
  const settings = {
    command: process.execPath,
    args: ["--no-warnings", SERVER],
    // A thread starts when the server is ready, and not without it on a busy machine.
    required: true,
    startup_timeout_sec: 60,
  };
  const toml = Object.entries(settings).map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  await appendFile(join(cli.codexHome, "config.toml"), `\n[mcp_servers.till]\n${toml.join("\n")}\n`);
});

afterAll(() => cli[Symbol.asyncDispose]());

/** What Codex has stored of all threads. */
async function readThreads(): Promise<string> {
  const texts: string[] = [];
  for await (const file of glob("sessions/**/*.jsonl", { cwd: cli.codexHome })) {
    texts.push(await readFile(join(cli.codexHome, file), "utf8"));
  }
  return texts.join("\n").replaceAll("\\", "");
}

test("a question of the model is named as one", async () => {
  await using terminal = cli.open(["run", "--mode", "plan", "question"], { env: { NO_COLOR: "1" } });
  await terminal.waitFor("Enter: confirm");
  expect(terminal.text).toMatch(/The agent has a question\n[^]*Allow this\?/);
  terminal.write("\r");

  expect(await terminal.exited).toBe(0);
});

describe("a form of an MCP server", () => {
  test("is asked field by field, and required fields are", async () => {
    await using terminal = cli.open(["run", "form"], { env: { NO_COLOR: "1" } });
    await terminal.waitFor("Enter: confirm");
    expect(terminal.text).toContain("till asks\n  What is your name?");
    terminal.write("\u001b[A\r");
    await terminal.waitFor(/◆ +Name/);
    terminal.write("\r");
    await terminal.waitFor("An answer is required.");
    terminal.write("Ada\r");

    expect(await terminal.exited).toBe(0);
    expect(await readThreads()).toContain('{"action":"accept","content":{"name":"Ada"}');
  });

  test("is declined by default", async () => {
    await using terminal = cli.open(["run", "form"], { env: { NO_COLOR: "1" } });
    await terminal.waitFor("Enter: confirm");
    terminal.write("\r");

    expect(await terminal.exited).toBe(0);
    expect(await readThreads()).toContain('{"action":"decline"');
  });

  test("that is a page to visit shows its address", async () => {
    await using terminal = cli.open(["run", "page"], { env: { NO_COLOR: "1" } });
    await terminal.waitFor("Accept?");
    expect(terminal.text).toContain("  Sign in\n  https://example.com/sign-in\n");
    terminal.write("\u0003");

    expect(await terminal.exited).toBe(130);
  });
});
