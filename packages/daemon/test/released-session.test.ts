// Sessions that are released while a command is being carried out.
import { gate, run, say, type Script, waitFor } from "@codexkit/scripted-model";
import { appendFile, stat } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { textsOf } from "./killed-runner.ts";
import { startRunner, type TestRunner } from "./start-runner.ts";
import type { SessionEvent } from "../src/api/event.ts";
import type { Database } from "../src/database.ts";
import { SessionOwner } from "../src/sessions/session-owner.ts";

const LIMITS = { claimMs: 20, retryMs: 50, interruptMs: 3_000 };

/** Longer than a node takes to claim or release. No event marks that nothing happens. */
const A_WHILE_MS = 300;

const isDelta = ({ type }: SessionEvent): boolean => type === "item.delta";

/** False for a process that has ended and was not collected yet. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const holding =
  (open: ReturnType<typeof gate>): Script =>
  ({ lastUserText }) =>
    lastUserText === "hold" ? say(["half ", waitFor(open), "done"]) : say(`received: ${lastUserText}`);

/** Holds the next command just before it is sent to Codex. */
function holdCommand({ commands }: Database): {
  readonly reached: Promise<void>;
  readonly release: () => void;
} {
  const begin = commands.begin.bind(commands);
  const reached = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  commands.begin = async (...args) => {
    commands.begin = begin;
    reached.resolve();
    await released.promise;
    return begin(...args);
  };
  return { reached: reached.promise, release: released.resolve };
}

/** Creates a session, and holds its second message just before it is sent to Codex. */
async function holdMessage(stage: TestRunner) {
  const session = await stage.create();
  await session.send("first");
  await session.ended();
  const held = holdCommand(stage.database);
  const sent = await session.submit("message", { input: "hold", mode: "queue" });
  await held.reached;
  return { session, held, sent };
}

test("a drain waits for the turn of a message that is just being sent", async () => {
  const open = gate();
  await using stage = await startRunner(holding(open), { limits: LIMITS });
  const { session, held, sent } = await holdMessage(stage);
  const drained = stage.runner.drain(60_000);
  await delay(A_WHILE_MS);
  held.release();
  const { seq } = await session.event(isDelta, (await session.row()).last_seq);
  open.open();
  await drained;
  expect(await session.result(sent)).toMatchObject({ ok: true });
  expect(await session.ended(undefined, seq)).toMatchObject({ type: "turn.completed" });
  expect(textsOf(await session.events(), "agentMessage")).toEqual(["received: first", "half done"]);
  expect(await session.row()).toMatchObject({ node_id: null, active_turn_id: null, ready_at: null });
});

test("a drain that can't wait ends the turn of a message that is just being sent, and reports it", async () => {
  await using stage = await startRunner(holding(gate()), { limits: LIMITS });
  const session = await stage.create({ onInterrupted: "continue" });
  await session.send("first");
  await session.ended();
  const held = holdCommand(stage.database);
  await session.submit("message", { input: "hold", mode: "queue" });
  await held.reached;
  const { last_seq: seq } = await session.row();
  const drained = stage.runner.drain(0);
  await delay(A_WHILE_MS);
  held.release();
  await drained;
  const turns = (await session.events()).filter((event) => event.seq > seq && event.type.startsWith("turn."));
  expect(turns.map(({ type }) => type)).toEqual(["turn.started", "turn.interrupted"]);
  const { turnId } = turns[0] as Extract<SessionEvent, { type: "turn.started" }>;
  expect(await session.row()).toMatchObject({ active_turn_id: null, interrupted_turn_id: turnId });
});

test("a drain ends an app-server whose turn can't be interrupted before it releases the session", async () => {
  await using stage = await startRunner(holding(gate()), { limits: { ...LIMITS, interruptMs: 500 } });
  const session = await stage.create();
  await session.submit("message", { input: "hold", mode: "queue" });
  await session.event(isDelta);
  const pid = stage.runner.status.appServers[0]?.pid ?? 0;
  const { sessions } = stage.database;
  const release = sessions.release.bind(sessions);
  const wasRunning: boolean[] = [];
  sessions.release = async (...args) => {
    wasRunning.push(isRunning(pid));
    return release(...args);
  };
  process.kill(pid, "SIGSTOP");
  await stage.runner.drain(0);
  expect(wasRunning).toEqual([false]);
  expect(await session.row()).toMatchObject({ node_id: null });
});

test("a drain lets a turn continue whose request was just answered", async () => {
  const script: Script = ({ outputs }) =>
    outputs.length === 0 ? run("echo ran >> answered", { escalate: "why" }) : say("done");
  await using stage = await startRunner(script, { limits: LIMITS });
  const session = await stage.create({ permissionMode: "read-only" });
  await session.submit("message", { input: "ask", mode: "queue" });
  const [approval] = await session.approval();
  // Parking finds that all answers were sent, while Codex has not reported the end of the requests yet.
  const parking = vi.spyOn(SessionOwner.prototype, "park").mockResolvedValue(0);
  onTestFinished(() => {
    parking.mockRestore();
  });
  const drained = stage.runner.drain(60_000);
  await expect.poll(() => parking.mock.calls.length).toBeGreaterThan(0);
  await session.answer(approval, { type: "decision", offer: "accept" });
  await drained;
  expect(await session.ended()).toMatchObject({ type: "turn.completed" });
});

test("is released with the lines that Codex wrote after its last turn", async () => {
  await using stage = await startRunner(holding(gate()), { limits: LIMITS });
  const session = await stage.create();
  await session.send("first");
  await session.ended();
  const stored = async () =>
    (await stage.database.rollouts.lineage(session.id)).find(({ role }) => role === "main");
  const path = join(stage.stateFolder, "codex", (await stored())?.path ?? "");
  await appendFile(path, "{}\n");
  await stage.runner.drain(0);
  expect((await stored())?.bytes).toBe((await stat(path)).size);
});

test("a full node keeps a session whose message is just being sent", async () => {
  const open = gate();
  await using stage = await startRunner(holding(open), { capacity: 1, limits: LIMITS });
  const { session, held, sent } = await holdMessage(stage);
  const other = await stage.create();
  await delay(A_WHILE_MS);
  held.release();
  await session.event(isDelta, (await session.row()).last_seq);
  await delay(A_WHILE_MS);
  open.open();
  expect(await session.result(sent)).toMatchObject({ ok: true });
  await session.event((event) => textsOf([event], "agentMessage")[0] === "half done");
  expect((await session.row()).epoch).toBe(1);
  await other.event(({ type }) => type === "command.finished");
});
