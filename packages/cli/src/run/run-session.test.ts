import type { Approval } from "@codexkit/daemon/client";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { run, say, usage } from "@codexkit/scripted-model";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startCli } from "../../test/cli-process.ts";
import type { CliTerminal } from "../../test/cli-terminal.ts";
import { startTestDaemon, type TestDaemon } from "../../test/test-daemon.ts";

let daemon: TestDaemon;

beforeAll(async () => {
  daemon = await startTestDaemon(({ lastUserText, newOutputs }) => {
    if (lastUserText === "escalate" && newOutputs.length === 0) {
      return [run("frobnicate", { escalate: "It is needed." })];
    }
    return [say(`You said ${lastUserText}.`, { phase: "final_answer" }), usage({ input: 100, output: 20 })];
  });
});

afterAll(() => daemon[Symbol.asyncDispose]());

async function parkSessionOf(approvalId: string): Promise<void> {
  const { sessionId } = await daemon.client.request("GET /inbox/{approvalId}", { params: { approvalId } });
  await daemon.client.request("POST /sessions/{sessionId}/park", {
    params: { sessionId },
    query: { wait: 20_000 },
  });
}

/** Resolves to the next approval of any session. */
async function newestApproval(): Promise<Approval> {
  for await (const frame of daemon.client.events({ signal: AbortSignal.timeout(20_000) })) {
    if (frame.type === "approval" && frame.approval.state === "open") return frame.approval;
  }
  throw new Error("No approval was opened.");
}

/** Runs a turn in a terminal whose command needs an approval. */
function openEscalation(): CliTerminal {
  return daemon.open(["run", "--daemon", daemon.url, "escalate"], { columns: 120, env: { NO_COLOR: "1" } });
}

describe("run --daemon", () => {
  test("makes a session, and --resume continues it", async () => {
    const first = await daemon.run(["run", "--daemon", daemon.url, "hello"]);
    const again = await daemon.run(["run", "--resume", "-o", "last.txt", "--daemon", "again"]);
    const [session] = await daemon.json(["sessions"]);

    expect(first).toMatchObject({ exitCode: 0, stdout: "You said hello.\n" });
    expect(first.stderr).toMatch(/^completed in \d+s · 120 tokens · session \S+\n/m);
    expect(again).toMatchObject({ exitCode: 0, stdout: "You said again.\n" });
    expect(again.stderr).toContain(`session ${String(session?.["id"])}`);
  });

  test("prints the events of the session with --json", async () => {
    const events = await daemon.json<{ type: string; seq: number }>(["run", "--daemon", daemon.url, "json"]);

    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => (events[0]?.seq ?? 0) + index));
    expect(events.at(-1)?.type).toBe("turn.completed");
  });

  test("refuses options that belong to a thread, and a daemon that is not there", async () => {
    const [policy, unreachable] = await Promise.all([
      daemon.run(["run", "--daemon", daemon.url, "--allow", "ls", "x"]),
      daemon.run(["run", "--daemon", "http://127.0.0.1:9", "x"]),
    ]);

    expect(policy).toMatchObject({ exitCode: 2 });
    expect(policy.stderr).toBe(
      "error: --allow can't be used with --daemon.\nThe daemon has its own policy and model.\n",
    );
    expect(unreachable).toMatchObject({ exitCode: 1 });
    expect(unreachable.stderr).toMatch(/^error: The daemon at http:\/\/127\.0\.0\.1:9 can't be reached/);
  });

  test("--resume with a larger --budget continues a session over its budget", async () => {
    const over = await daemon.run(["run", "--daemon", daemon.url, "--budget", "5", "over"]);
    const raised = await daemon.run(["run", "--daemon", "--resume", "--budget", "10k", "--", "again"]);

    expect(over).toMatchObject({ exitCode: 4 });
    expect(raised).toMatchObject({ exitCode: 0, stdout: "You said again.\n" });
  });

  test("without a terminal, says where an approval can be answered, and waits for it", async () => {
    const child = startCli(["run", "--daemon", daemon.url, "--deadline", "1h", "escalate"], {
      cwd: daemon.workspace,
      env: daemon.env,
    });
    const exited = once(child, "exit");
    child.stdin.end();
    for await (const line of createInterface(child.stderr)) {
      const [, approvalId] = /^Waiting for an answer\. Run: codexkit inbox show (\S+)$/.exec(line) ?? [];
      if (approvalId === undefined) continue;
      await daemon.run(["inbox", "decline", approvalId]);
      break;
    }
    child.stderr.resume();

    expect(await exited).toEqual([3, null]);
  });

  test.each([
    ["approve", 0, "You said escalate.\n"],
    ["decline", 3, "You said escalate.\n"],
  ])(
    "waits for a parked approval, and after %s follows the turn that continues",
    async (verb, code, printed) => {
      const child = startCli(["run", "--daemon", daemon.url, "--deadline", "1h", "escalate"], {
        cwd: daemon.workspace,
        env: daemon.env,
      });
      const exited = once(child, "close");
      const stdout = text(child.stdout);
      child.stdin.end();
      for await (const line of createInterface(child.stderr)) {
        const [, id] = /^Waiting for an answer\. Run: codexkit inbox show (\S+)$/.exec(line) ?? [];
        if (id !== undefined) await parkSessionOf(id);
        const [, parkedId] = /^The request is parked.* Run: codexkit inbox approve (\S+)/.exec(line) ?? [];
        if (parkedId === undefined) continue;
        await daemon.run(["inbox", verb, parkedId]);
        break;
      }
      child.stderr.resume();

      expect(await exited).toEqual([code, null]);
      expect(await stdout).toBe(printed);
    },
  );

  test("exits with 4 if a parked approval is not answered before the --deadline", async () => {
    const running = daemon.run(["run", "--daemon", daemon.url, "--deadline", "5s", "escalate"]);
    await parkSessionOf((await newestApproval()).id);
    const { exitCode, stderr } = await running;

    expect(exitCode).toBe(4);
    expect(stderr).toContain("The request is parked");
  });

  test("asks about approvals at the terminal", async () => {
    await using terminal = openEscalation();
    await terminal.waitFor("Enter: confirm");
    expect(terminal.text).toContain("  $ frobnicate");
    terminal.write("\r");

    expect(await terminal.exited).toBe(3);
    expect(terminal.text).toContain("You said escalate.");
    expect(terminal.text).toContain("error: Denied: ");
  });

  test("Ctrl-C at an approval interrupts the turn", async () => {
    await using terminal = openEscalation();
    await terminal.waitFor("Enter: confirm");
    terminal.write("\u0003");

    expect(await terminal.exited).toBe(130);
    const [session] = await daemon.json(["sessions"]);
    expect(session).toMatchObject({ phase: "idle", activeTurnId: null });
  });
});

test("chat --daemon makes a session and attaches to it", async () => {
  await using terminal = daemon.open(["chat", "--daemon", daemon.url, "--", "chat"], {
    env: { NO_COLOR: "1" },
  });
  await terminal.waitFor("You said chat.");
  terminal.write("\u0004");

  expect(await terminal.exited).toBe(0);
});
