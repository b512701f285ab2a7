// A codex that is frozen (SIGSTOP) reads nothing and answers nothing, but its pipes stay open.
import { gate, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { type LaunchedCodex, launchCodex } from "@codexkit/testing";
import { RPC_LIMITS } from "@codexkit/rpc";
import { expect, it } from "vitest";
import { waitsForWork } from "../src/connection/call-limits.ts";
import type { CodexError } from "../src/errors.ts";
import { pidExists } from "../src/process/process-table.ts";
import type { Thread } from "../src/thread/thread.ts";
import type { Turn } from "../src/turn/turn.ts";

const holding: ScriptFunction = ({ lastUserText }) =>
  lastUserText === "hold" ? say(["half ", waitFor(gate())]) : say("received");

interface Frozen {
  readonly stage: LaunchedCodex;
  readonly pid: number;
  readonly thread: Thread;
  readonly idle: Thread;
  readonly held: Turn;
}

async function freeze(): Promise<Frozen> {
  const stage = await launchCodex({
    model: holding,
    limits: { callTimeoutMs: 3_000 },
    processLimits: { exitTimeoutMs: 300, terminateTimeoutMs: 300 },
  });
  const start = { cwd: stage.workspace };
  const thread = await stage.codex.startThread(start, { timeoutMs: 20_000 });
  const idle = await stage.codex.startThread(start, { timeoutMs: 20_000 });
  const held = thread.run("hold");
  for await (const event of held) if (event.type === "item.delta") break;
  const pid = stage.codex.pid ?? 0;
  process.kill(pid, "SIGSTOP");
  return { stage, pid, thread, idle, held };
}

it("limits calls to 30 s by default", () => {
  expect(RPC_LIMITS.callTimeoutMs).toBe(30_000);
});

it.each(["command/exec", "thread/sample", "mcpServer/tool/call", "plugin/install"])(
  "has no default timeout for %s, which waits for work",
  (method) => expect(waitsForWork(method)).toBe(true),
);

// The remaining tests mostly wait for timeouts, so they run concurrently.
it.concurrent("times out calls to a frozen codex, and ends it on close", async () => {
  const { stage, pid, thread, idle, held } = await freeze();
  await using _stage = stage;
  const { codex } = stage;
  const calls = {
    startThread: codex.startThread({ cwd: stage.workspace }),
    resumeThread: codex.resumeThread(thread.id),
    fork: thread.fork(),
    run: idle.run("x").result(),
    queue: thread.run("x", { whenBusy: "queue" }).result(),
    steer: held.steer("x"),
    interrupt: held.interrupt(),
    read: thread.read(),
    listThreads: codex.listThreads().next(),
    exec: codex.request("command/exec", { command: ["true"] }, { timeoutMs: 3_000 }),
  };
  const outcomes = await Promise.allSettled(Object.values(calls));
  const codes = outcomes.map((outcome) =>
    outcome.status === "rejected" ? (outcome.reason as CodexError).code : outcome.status,
  );
  expect(Object.keys(calls).map((name, at) => [name, codes[at]])).toEqual(
    Object.keys(calls).map((name) => [name, "timeout"]),
  );
  await idle.close();
  await codex.close();
  await expect(held).rejects.toMatchObject({ code: "closed" });
  expect(pidExists(pid)).toBe(false);
});

it.concurrent("continues when a frozen codex is resumed", async () => {
  const { stage, pid, thread, idle } = await freeze();
  await using _stage = stage;
  const read = idle.read();
  await expect(read).rejects.toMatchObject({ code: "timeout" });
  process.kill(pid, "SIGCONT");
  expect(await idle.run("x")).toMatchObject({ finalResponse: "received" });
  await thread.interrupt();
});

it.concurrent("closes a thread of a codex that was killed", async () => {
  await using stage = await launchCodex({ model: holding });
  const thread = await stage.codex.startThread({ cwd: stage.workspace });
  process.kill(stage.codex.pid ?? 0, "SIGKILL");
  await thread.close();
  await thread.close();
  await expect(thread.run("x")).rejects.toMatchObject({ code: "closed" });
});

it.concurrent("is ended by restartIfIdle once no other turn is running, and the next call launches another", async () => {
  const { stage, pid, thread, held } = await freeze();
  await using _stage = stage;

  expect(await stage.codex.restartIfIdle()).toBe(false);
  expect(await stage.codex.restartIfIdle({ except: [thread.id] })).toBe(true);

  await expect(held).rejects.toMatchObject({ code: "app_server_crashed" });
  expect(pidExists(pid)).toBe(false);
  const next = await stage.codex.startThread({ cwd: stage.workspace }, { timeoutMs: 20_000 });
  await expect(next.run("go on")).resolves.toMatchObject({ finalResponse: "received" });
});
