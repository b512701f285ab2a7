// Sessions that are released while a command is being carried out.
import { gate, say, type Script, waitFor } from "@codexkit/scripted-model";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { textsOf } from "../../test/killed-runner.ts";
import { startRunner } from "../../test/start-runner.ts";
import type { SessionEvent } from "../api/event.ts";
import type { Database } from "../database.ts";

const LIMITS = { claimMs: 20, retryMs: 50, interruptMs: 3_000 };

/** Longer than a node takes to claim or release. No event marks that nothing happens. */
const A_WHILE_MS = 300;

const isDelta = ({ type }: SessionEvent): boolean => type === "item.delta";

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

test("a drain waits for the turn of a message that is just being sent", async () => {
  const open = gate();
  await using stage = await startRunner(holding(open), { limits: LIMITS });
  const session = await stage.create();
  await session.send("first");
  await session.ended();
  const held = holdCommand(stage.database);
  const sent = await session.submit("message", { input: "hold", mode: "queue" });
  await held.reached;
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

test("a full node keeps a session whose message is just being sent", async () => {
  const open = gate();
  await using stage = await startRunner(holding(open), { capacity: 1, limits: LIMITS });
  const session = await stage.create();
  await session.send("first");
  await session.ended();
  const held = holdCommand(stage.database);
  const sent = await session.submit("message", { input: "hold", mode: "queue" });
  await held.reached;
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
