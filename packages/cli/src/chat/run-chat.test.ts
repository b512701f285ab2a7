import { gate, run, say, waitFor } from "@codexkit/scripted-model";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CliTerminal } from "../../test/cli-terminal.ts";
import { uniqueSleep, waitForProcesses } from "../../test/find-processes.ts";
import { openScriptedCli, type ScriptedCli } from "../../test/scripted-cli.ts";

const SLEEP = uniqueSleep();

/** Never opened: a steered turn abandons the reply that waits for it. */
const steered = gate();

let cli: ScriptedCli;

beforeAll(async () => {
  cli = await openScriptedCli({
    hello: [[say("Hello, 世界 👋.", { phase: "final_answer" })]],
    slow: [[say("Working on it.", { phase: "commentary" }), waitFor(steered)]],
    faster: [[say("Faster now.", { phase: "final_answer" })]],
    two: [[say("Two lines.", { phase: "final_answer" })]],
    escalate: [
      [run("frobnicate", { escalate: "It is needed." })],
      [say("Tried.", { phase: "final_answer" })],
    ],
    sleep: [[run(SLEEP, { yieldMs: 30_000 })]],
  });
});

afterAll(() => cli[Symbol.asyncDispose]());

function historyFile(): string {
  return join(String(cli.env["HOME"]), ".codexkit/history");
}

/** The lines of the screen without what differs between two runs. */
function transcript({ lines }: CliTerminal): string[] {
  return lines.map((line) =>
    line
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
      .replaceAll(/\bin \d+s\b/g, "in 0s")
      .replaceAll(cli.workspace, "WORKSPACE")
      .trimEnd(),
  );
}

describe("a conversation", () => {
  test("at 80 columns: messages, steering, shell commands, a paste and slash commands", async () => {
    await using terminal = cli.open(["chat", "hello"], { columns: 80, env: { NO_COLOR: "1" } });
    await terminal.waitFor(/completed in \d+s · 15 tokens\n\n› Send a message, or \/help/);
    terminal.write("slow one\r");
    await terminal.waitFor("Working on it.");
    terminal.write("faster please\r");
    await terminal.waitFor("› faster please");
    await terminal.waitFor("Faster now.");
    await terminal.waitFor(/Faster now\.\n\ncompleted.*\n\n› Send/);
    terminal.write("!echo mine\r");
    await terminal.waitFor(/mine\n {2}exit 0(?: · \d+s)?\n[^]*tokens\n\n› Send/);
    terminal.write("\u001b[200~two\r\nlines 語\u001b[201~");
    await terminal.waitFor(/› two\n {2}lines 語$/);
    expect(terminal.beforeCursor).toBe("  lines 語");
    terminal.write("\r");
    await terminal.waitFor(/Two lines\.\n\ncompleted .*\n\n› Send/);
    terminal.write("/frob\r");
    await terminal.waitFor("There is no command /frob.");
    terminal.write("\u0004");

    expect(await terminal.exited).toBe(0);
    expect(transcript(terminal)).toEqual([
      "codexkit 0.1.0 · mock-model · WORKSPACE",
      "",
      "Hello, 世界 👋.",
      "",
      "completed in 0s · 15 tokens",
      "",
      "› slow one",
      "",
      "Working on it.",
      "",
      "› faster please",
      "",
      "Faster now.",
      "",
      expect.stringMatching(/^completed in 0s · \d+ tokens$/),
      "",
      "› !echo mine",
      "",
      "$ echo mine",
      "  mine",
      expect.stringMatching(/^ {2}exit 0(?: · \d+s)?$/),
      "",
      expect.stringMatching(/^completed in 0s · \d+ tokens$/),
      "",
      "› two",
      "  lines 語",
      "",
      "Two lines.",
      "",
      expect.stringMatching(/^completed in 0s · \d+ tokens$/),
      "",
      "› /frob",
      "",
      "error: There is no command /frob. /help lists the commands.",
      "",
      "Continue with: codexkit chat --resume ID",
    ]);
    expect(terminal.raw.endsWith("\u001b[?2004l")).toBe(false);
    expect(terminal.raw.lastIndexOf("\u001b[?2004l")).toBeGreaterThan(
      terminal.raw.lastIndexOf("\u001b[?2004h"),
    );
    const history = await readFile(historyFile(), "utf8");
    expect(history.trim().split("\n")).toEqual([
      '"slow one"',
      '"faster please"',
      '"!echo mine"',
      '"two\\nlines 語"',
      '"/frob"',
    ]);
  });

  test("at 120 columns, in colour: an approval, a resumed thread, history and commands", async () => {
    await cli.run(["run", "hello"]);
    await mkdir(dirname(historyFile()), { recursive: true });
    await writeFile(historyFile(), '"an earlier message"\n');
    await using terminal = cli.open(["chat", "--resume"], { columns: 120 });
    await terminal.waitFor("Which thread do you want to continue?");
    expect(terminal.text).toContain("● hello (just now)");
    terminal.write("\r");
    await terminal.waitFor("› Send a message");
    terminal.write("\u001b[A");
    await terminal.waitFor("› an earlier message");
    terminal.write("\u0003escalate\r");
    await terminal.waitFor("The agent wants to run a command");
    terminal.write("/st");
    await terminal.waitFor("Enter: confirm");
    expect(terminal.text).toContain("● No, continue without it");
    // Enter after text belongs to the text.
    terminal.write("atus");
    terminal.write("\r");
    terminal.write("\u001b[B\u001b[B\r");
    await terminal.waitFor(/Tried\.\n\ncompleted/);
    await terminal.waitFor(/› \/status$/);
    expect(terminal.text).not.toContain("declined at the terminal");
    terminal.write("\u0003");
    await terminal.waitFor("› Send a message");
    terminal.write("/status\r");
    await terminal.waitFor(
      /thread {4}\S+\nmodel {5}mock-model.*\nfolder {4}\S+\nsandbox {3}workspaceWrite\n/,
    );
    terminal.write("/he\t");
    await terminal.waitFor(/› \/help$/);
    terminal.write("\r");
    await terminal.waitFor("run a shell command outside");
    terminal.write("/diff\r");
    await terminal.waitFor("is not a git repository with a commit.");
    terminal.write("/new\r");
    await terminal.waitFor("This is a new thread.");
    terminal.write("/quit\r");

    expect(await terminal.exited).toBe(0);
    expect(terminal.raw).toContain("\u001b[31merror:\u001b[39m");
    expect(transcript(terminal)).toContain("The agent wants to run a command outside the sandbox");
  });
});

test("Ctrl-C interrupts the turn, and two more exit", async () => {
  await using terminal = cli.open(["chat", "sleep"], { env: { NO_COLOR: "1" } });
  await waitForProcesses(SLEEP, "some");
  await terminal.waitFor(`$ ${SLEEP}\n› Send`);
  terminal.write("\u0003");
  await terminal.waitFor(/interrupted in \d+s/);
  await waitForProcesses(SLEEP, "none");
  terminal.write("\u0003");
  await terminal.waitFor("Press Ctrl-C again to exit.");
  terminal.write("\u0003");

  expect(await terminal.exited).toBe(130);
});

test("leaving during a turn is not an error", async () => {
  await using terminal = cli.open(["chat", "slow"], { env: { NO_COLOR: "1" } });
  await terminal.waitFor("Working on it.");
  terminal.write("\u0004");

  expect(await terminal.exited).toBe(0);
  expect(terminal.text).not.toContain("error:");
  expect(terminal.lines.at(-1)).toMatch(/^Continue with: codexkit chat --resume \S+$/);
});

test("without a terminal, chat names run", async () => {
  const { exitCode, stderr } = await cli.run(["chat"]);

  expect({ exitCode, stderr }).toEqual({
    exitCode: 2,
    stderr: 'error: chat requires a terminal.\nUse `codexkit run "…"` in scripts.\n',
  });
});
