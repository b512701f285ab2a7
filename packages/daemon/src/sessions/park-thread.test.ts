// Requests that can't be parked. Their threads must stay usable.
import { run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { describe, expect, test } from "vitest";
import { runsOf } from "../../test/parked-kinds.ts";
import { pollUntil } from "../../test/poll-until.ts";
import { startRunner, type TestRunner, type TestSession } from "../../test/start-runner.ts";
import type { InboxAnswer } from "../api/approval.ts";
import type { ApprovalRow } from "../database/tables.ts";
import { createRunner } from "./create-runner.ts";

const LIMITS = { retryMs: 20, claimMs: 20 };
const ACCEPT: InboxAnswer = { type: "decision", offer: "accept" };

/** The message `run <file>` runs one command, which needs an approval. Every reply lists the messages of the conversation. */
const script: ScriptFunction = ({ lastUserText, newOutputs, input }) => {
  const [, file] = /^run (\S+)$/.exec(lastUserText) ?? [];
  if (file !== undefined && newOutputs.length === 0) {
    return run(`echo ran >> ${file}`, { callId: file, escalate: "why" });
  }
  return say(JSON.stringify(input).includes("run ") ? "knows the command" : "knows nothing");
};

async function waiting(
  stage: TestRunner,
  file: string,
): Promise<{ session: TestSession; row: ApprovalRow | undefined }> {
  const session = await stage.create({ permissionMode: "read-only" });
  await session.send(`run ${file}`);
  const [row] = await session.approval();
  return { session, row };
}

async function expectHistory(session: TestSession): Promise<void> {
  const { seq } = (await session.events()).at(-1) ?? { seq: 0 };
  expect(await session.send("what do you know?")).toMatchObject({ ok: true });
  expect(await session.ended(undefined, seq)).toMatchObject({
    result: { finalResponse: "knows the command" },
  });
}

describe("a thread whose file is too large to be stored", () => {
  const storeLimits = { rolloutBytes: 10_000 };

  test("survives a shutdown, and its request is withdrawn", async () => {
    await using stage = await startRunner(script, { limits: LIMITS, storeLimits });
    const { session } = await waiting(stage, "drained");
    await stage.runner.drain(0);
    await stage.runner.close();
    await using next = createRunner(stage.options);
    await next.start();
    await expectHistory(session);
    const { rows } = await stage.database.inbox.list({ sessionId: session.id });
    expect(rows).toMatchObject([{ state: "withdrawn" }]);
    expect(await runsOf(stage.workspace, "drained")).toBe(0);
  });

  test("survives a crash, and its request is withdrawn", async () => {
    await using stage = await startRunner(script, { limits: LIMITS, storeLimits });
    const { session } = await waiting(stage, "crashed");
    process.kill(stage.runner.status.appServers[0]?.pid ?? 0, "SIGKILL");
    await session.event(({ type }) => type === "inbox.withdrawn");
    await expectHistory(session);
    expect(await session.row()).toMatchObject({ phase: "idle" });
  });

  test("is not parked on request, and its request can still be answered", async () => {
    await using stage = await startRunner(script, { limits: LIMITS, storeLimits });
    const { session, row } = await waiting(stage, "asked");
    expect(await session.run("park", {})).toMatchObject({
      ok: false,
      problem: { type: "rollout_too_large" },
    });
    await session.answer(row, ACCEPT);
    expect(await session.ended()).toMatchObject({ type: "turn.completed" });
    expect(await runsOf(stage.workspace, "asked")).toBe(1);
  });
});

test("what the store has lost of a thread's file is stored again before the thread is parked", async () => {
  await using stage = await startRunner(script, { limits: LIMITS });
  const { session, row } = await waiting(stage, "rewound");
  const { rollouts, store } = stage.database;
  const { thread_id: threadId } = await session.row();
  await store.db.transaction().execute((trx) => rollouts.truncate(trx, threadId ?? "", 100));
  expect(await session.run("park", {})).toEqual({ ok: true, parked: 1 });
  await session.answer(row, ACCEPT);
  expect(await session.ended()).toMatchObject({ type: "turn.interrupted" });
  await session.event(({ type }) => type === "turn.completed");
  expect(await runsOf(stage.workspace, "rewound")).toBe(1);
});

describe("a session that could not be parked", () => {
  const failure = new Error("The disk is full.");

  test("before anything was stored still delivers its answers", async () => {
    await using stage = await startRunner(script, { limits: LIMITS });
    const { session, row } = await waiting(stage, "unread");
    const { inbox } = stage.database;
    const list = inbox.list.bind(inbox);
    inbox.list = () => {
      inbox.list = list;
      return Promise.reject(failure);
    };
    expect(await session.run("park", {})).toMatchObject({ ok: false });
    await session.answer(row, ACCEPT);
    expect(await session.ended()).toMatchObject({ type: "turn.completed" });
    expect(await runsOf(stage.workspace, "unread")).toBe(1);
  });

  test("when the requests were to be stored still delivers its answers", async () => {
    await using stage = await startRunner(script, { limits: LIMITS });
    const { session, row } = await waiting(stage, "unstored");
    const { parked } = stage.database;
    const park = parked.park.bind(parked);
    parked.park = () => {
      parked.park = park;
      return Promise.reject(failure);
    };
    expect(await session.run("park", {})).toMatchObject({ ok: false });
    await session.answer(row, ACCEPT);
    expect(await session.ended()).toMatchObject({ type: "turn.completed" });
    await pollUntil(async () => (await session.row()).phase === "idle");
    expect(await runsOf(stage.workspace, "unstored")).toBe(1);
    await expectHistory(session);
  });
});
