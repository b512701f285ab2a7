import type { Session } from "@codexkit/daemon/client";
import { gate, run, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CliTerminal } from "../../test/cli-terminal.ts";
import { startTestDaemon, type TestDaemon } from "../../test/test-daemon.ts";

let hold = gate();
const script: ScriptFunction = ({ lastUserText, newOutputs }) => {
  if (newOutputs.length > 0) return say("Done.");
  if (lastUserText === "hold") return say(["half ", waitFor(hold)]);
  if (lastUserText === "approve") return run("touch one", { escalate: "It writes." });
  return say(`You said ${lastUserText}.`);
};

let daemon: TestDaemon;
let session: Session;
beforeAll(async () => {
  daemon = await startTestDaemon(script);
  session = (
    await daemon.client.createSession(
      { cwd: daemon.workspace, name: "Demo", permissionMode: "read-only" },
      { wait: 20_000 },
    )
  ).session;
});
afterAll(async () => daemon[Symbol.asyncDispose]());

const send = async (text: string): Promise<unknown> => daemon.client.send(session.id, text, { wait: 20_000 });

const isEnd = (type: string): boolean => /^turn\.(?:completed|failed|interrupted)$/.test(type);

test("without a terminal, prints the newest turn to its end", async () => {
  await send("hello");
  const { exitCode, stdout, stderr } = await daemon.run(["attach", "--once", "Demo"]);

  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(stdout).toMatch(
    /^session \S+ · Demo\n\n› hello\n\nYou said hello\.\n\ncompleted in \d+s · [\d.]+k? tokens\n$/,
  );
});

test("with --json, prints the events of the turn", async () => {
  const events = await daemon.json<{ type: string; seq: number }>(["attach", "--once", session.id]);

  expect(events[0]?.type).toBe("turn.started");
  expect(events.filter(({ type }) => isEnd(type))).toHaveLength(1);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => (events[0]?.seq ?? 0) + index));
});

test("an unknown session exits with 1", async () => {
  const { exitCode, stderr } = await daemon.run(["attach", "nope"]);

  expect(exitCode).toBe(1);
  expect(stderr).toContain('There is no session "nope".');
});

describe.each([
  { columns: 80, env: { NO_COLOR: "1" } },
  { columns: 120, env: {} },
])("on a terminal of $columns columns", ({ columns, env }) => {
  const attach = (): CliTerminal => daemon.open(["attach", session.id], { columns, env });

  test("a line starts a turn, an approval is asked about, and Ctrl-D exits", async () => {
    await using terminal = attach();
    await terminal.waitFor("Steer the turn");
    terminal.write("approve\r");
    await terminal.waitFor("Decide later");
    expect(terminal.text).toContain("  $ touch one");
    // Text is not an answer, and is kept for the editor.
    terminal.write("y");
    terminal.write("\r");
    terminal.write("\u001b[B\u001b[B\u001b[B\r");
    await terminal.waitFor(/Done\.\n\ncompleted in \d+s/);
    await terminal.waitFor(/› y$/);
    terminal.write("\u007f");
    await terminal.waitFor(/Steer the turn[^\n]*$/);
    terminal.write("\u0004");

    expect(await terminal.exited).toBe(0);
    expect(terminal.raw.includes("\u001B[2m")).toBe(env.NO_COLOR === undefined);
  });

  test("Ctrl-C interrupts the turn, and exits when none is running", async () => {
    hold = gate();
    await send("hold");
    await using terminal = attach();
    await terminal.waitFor("half");
    terminal.write("\u0003");
    await terminal.waitFor(/interrupted in \d+s/);
    terminal.write("\u0003");

    expect(await terminal.exited).toBe(0);
  });
});
