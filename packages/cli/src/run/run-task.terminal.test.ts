import { callTool, patch, run, say, think, usage } from "@codexkit/scripted-model";
import { appendFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CliTerminal } from "../../test/cli-terminal.ts";
import { uniqueSleep, waitForProcesses } from "../../test/find-processes.ts";
import { openScriptedCli, type ScriptedCli } from "../../test/scripted-cli.ts";

const PATCH = `*** Begin Patch
*** Add File: notes.md
+# Notes
+日本語 👍
*** End Patch`;

const SLEEP = { interrupt: uniqueSleep(), hangUp: uniqueSleep() };

const HOSTILE = "a\u001b]52;c;aGk=\u0007b\u001b]0;title\u0007c\u001b[2J\u001b[1;1Hd\u009b31me";

let cli: ScriptedCli;

beforeAll(async () => {
  cli = await openScriptedCli({
    everything: [
      [
        think("**Looking around**\n\nFirst I make a plan."),
        callTool("update_plan", {
          plan: [
            { step: "Look around", status: "completed" },
            { step: "Write notes", status: "in_progress" },
            { step: "Report", status: "pending" },
          ],
        }),
      ],
      [say("I run a command.", { phase: "commentary" }), run("seq 1 8; exit 3")],
      [patch(PATCH)],
      [
        say("All done: 日本語 👍\n\nSecond paragraph.", { phase: "final_answer" }),
        usage({ input: 1_200, output: 34 }),
      ],
    ],
    escalate: [
      [run("touch \u202e/tmp/x", { escalate: "It needs the network." })],
      [say("Fine.", { phase: "final_answer" })],
    ],
    hostile: [
      [run(String.raw`printf 'x\033]52;c;aGk=\007y\033[2Jz\033[8m\n'`)],
      [say(`${HOSTILE}\n${"語".repeat(30)} ${"👍".repeat(9)}`, { phase: "final_answer" })],
    ],
    interrupt: [[run(SLEEP.interrupt, { yieldMs: 30_000 })]],
    hangUp: [[run(SLEEP.hangUp, { yieldMs: 30_000 })]],
  });
  await appendFile(join(cli.codexHome, "config.toml"), "tools.update_plan.enabled=true\n");
});

afterAll(() => cli[Symbol.asyncDispose]());

/** The lines of the screen without what differs between two runs. */
function transcript({ lines }: CliTerminal): string[] {
  return lines.map((line) =>
    line
      .replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "ID")
      .replaceAll(/\bin \d+s\b/g, "in 0s")
      .replaceAll(/(?<=exit \d+) · \d+s$/g, "")
      .replaceAll(cli.workspace, "WORKSPACE"),
  );
}

describe("a turn with everything", () => {
  const expected = [
    "Looking around",
    "First I make a plan.",
    "",
    "Plan",
    "  ✓ Look around",
    "  ▸ Write notes",
    "  ○ Report",
    "",
    "I run a command.",
    "",
    "$ seq 1 8; exit 3",
    "  … 3 more lines",
    "  4",
    "  5",
    "  6",
    "  7",
    "  8",
    "  exit 3",
    "",
    "± notes.md added",
    "  +# Notes",
    "  +日本語 👍",
    "",
    "All done: 日本語 👍",
    "",
    "Second paragraph.",
    "",
    "completed in 0s · 1.3k tokens · thread ID",
  ];

  test("at 80 columns, in colour", async () => {
    await using terminal = cli.open(["run", "everything"], { columns: 80 });

    expect(await terminal.exited).toBe(0);
    expect(transcript(terminal)).toEqual(expected);
    expect(terminal.raw).toContain("\u001b[32m+# Notes\u001b[39m");
    expect(terminal.raw).toContain("\u001b[31mexit 3\u001b[39m");
    expect(terminal.raw).toContain("\u001b[2mFirst I make a plan.\u001b[22m");
  });

  test("at 120 columns, without colour", async () => {
    await using terminal = cli.open(["run", "everything"], { columns: 120, env: { NO_COLOR: "1" } });

    expect(await terminal.exited).toBe(0);
    expect(transcript(terminal)).toEqual(expected);
    // oxlint-disable-next-line no-control-regex
    expect(terminal.raw).not.toMatch(/\u001b\[[\d;]*m/);
  });
});

test("an approval shows the command, hidden characters, and both reasons", async () => {
  await using terminal = cli.open(["run", "escalate"], { columns: 80, env: { NO_COLOR: "1" } });
  await terminal.waitFor("└");

  expect(transcript(terminal)).toEqual([
    "The agent wants to run a command outside the sandbox",
    "  $ touch \\u202e/tmp/x",
    "  in WORKSPACE",
    "  The agent says: It needs the network.",
    expect.stringContaining("  The policy asks: "),
    "│",
    "◆  Allow this?",
    "│  ○ Yes",
    "│  ○ Yes, and don't ask again about exactly this",
    "│  ● No, continue without it",
    "│  ○ No, and stop",
    "│  ↑/↓ to navigate • Enter: confirm",
    "└",
  ]);

  terminal.write("\u001b[B\r");
  expect(await terminal.exited).toBe(3);
  expect(terminal.text).toContain("denied: declined at the terminal");
  expect(terminal.text).toContain("error: Denied: declined at the terminal.");
});

test("Ctrl-C at an approval interrupts the turn", async () => {
  await using terminal = cli.open(["run", "escalate"], { env: { NO_COLOR: "1" } });
  await terminal.waitFor("Enter: confirm");
  terminal.write("\u0003");

  expect(await terminal.exited).toBe(130);
  expect(terminal.text).not.toContain("error:");
});

test("hostile text changes nothing, and wide characters wrap, on a narrow terminal", async () => {
  await using terminal = cli.open(["run", "hostile"], { columns: 24, env: { NO_COLOR: "1" } });

  expect(await terminal.exited).toBe(0);
  expect(transcript(terminal)).toEqual([
    String.raw`$ printf 'x\033]52;c;aGk=\007y\033[2Jz\033[8m\n'`,
    "  xyz",
    "  exit 0",
    "",
    "abcde",
    `${"語".repeat(30)} ${"👍".repeat(9)}`,
    "",
    "completed in 0s · 30 tokens · thread ID",
  ]);
  expect(terminal.rows).toContain(`${"語".repeat(6)} ${"👍".repeat(5)}`);
  expect(terminal.raw).not.toContain("\u001b]");
});

test("Ctrl-C interrupts the turn and its command", async () => {
  await using terminal = cli.open(["run", "interrupt"]);
  await waitForProcesses(SLEEP.interrupt, "some");
  await terminal.waitFor(/^● \d+s · \d+ tokens · \$ sleep [\d.]+$/m);
  terminal.write("\u0003");

  expect(await terminal.exited).toBe(130);
  expect(terminal.text).toMatch(/interrupted in \d+s/);
  expect(terminal.raw.endsWith("\u001b[?25h")).toBe(true);
  await waitForProcesses(SLEEP.interrupt, "none");
});

test("a closed terminal ends everything", async () => {
  await using terminal = cli.open(["run", "hangUp"]);
  await waitForProcesses(SLEEP.hangUp, "some");
  terminal.close();

  await waitForProcesses(SLEEP.hangUp, "none");
  await waitForProcesses("run hangUp", "none");
});
