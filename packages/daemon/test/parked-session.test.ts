// Commands, crashes and shutdowns before, during and after the delivery of a parked session's answers.
import { callTool, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pollUntil } from "./poll-until.ts";
import { runsOf } from "./parked-kinds.ts";
import { Receiver } from "./receiver.ts";
import { startRunner, type TestRunner, TestSession } from "./start-runner.ts";
import type { InboxAnswer } from "../src/api/approval.ts";
import type { SessionEvent } from "../src/api/event.ts";
import type { ApprovalRow } from "../src/database/tables.ts";
import type { ParkedProgress } from "../src/inbox/parked-inbox.ts";
import { findOpenCalls, type ModelCall, readLines, startOfResponse } from "../src/parking/rollout-lines.ts";
import { WEBHOOK_LIMITS } from "../src/webhooks/limits.ts";
import { exportSession } from "../src/transfer/export-session.ts";
import { createRunner } from "../src/sessions/create-runner.ts";
import type { Runner } from "../src/sessions/runner.ts";

const ACCEPT: InboxAnswer = { type: "decision", offer: "accept" };
const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
const DECLINE: InboxAnswer = { type: "decision", offer: "decline" };

/** The message names the file to which the commands append. The reply lists the outputs of all calls in their order. */
const script: ScriptFunction = (request) => {
  const [, what = "", name = ""] = /^(\S+) (\S+)$/.exec(request.lastUserText) ?? [];
  const { outputs } = request;
  if (what === "message") return say(`told: ${JSON.stringify(outputs.map(({ text }) => text))}`);
  const write = run(`echo ran >> ${name}; echo done`, { callId: "a", escalate: "why" });
  if (what === "different" && request.index > 0 && rewound.has(name)) {
    return outputs.length > 0
      ? say("other")
      : run(`echo ran >> ${name}`, { callId: "other", escalate: "instead" });
  }
  if (what === "cutoff" && (outputs.length === 0 || outputs.at(-1)?.text.startsWith("A person accepted"))) {
    return callTool("request_permissions", { reason: "needed", permissions: { network: { enabled: true } } });
  }
  // In the second request, the output of the first call is the newest one.
  if (what === "twice" && outputs.length === 1) {
    return run(`echo ran >> ${name}; echo done`, { callId: "again", escalate: "why" });
  }
  if (outputs.length > 0) return say(JSON.stringify(outputs.map(({ callId, text }) => [callId, text])));
  if (what === "held") {
    const permission = callTool("request_permissions", {
      reason: "needed",
      permissions: { network: { enabled: true } },
    });
    const hold = held.get(name);
    hold?.asked.resolve();
    return hold ? hold.released.promise.then(() => permission) : permission;
  }
  if (what === "gated") {
    const wait = `until test -e ${name}.open; do sleep 0.02; done`;
    return run(`echo ran >> ${name}; ${wait}; echo done`, { callId: "a", escalate: "why" });
  }
  if (what === "slow") return run(`echo ran >> ${name}; sleep 600`, { callId: "a", escalate: "why" });
  if (what === "different") {
    return callTool("request_permissions", { reason: "needed", permissions: { network: { enabled: true } } });
  }
  if (what === "tool") return [callTool("weather", {}, { callId: "w" }), write];
  if (what !== "parallel") return write;
  return [
    write,
    run("echo beside", { callId: "b" }),
    run(`echo ran >> ${name}`, { callId: "c", escalate: "too" }),
  ];
};

/** Names of sessions whose model responds only after it is released. */
const held = new Map<
  string,
  { readonly asked: PromiseWithResolvers<void>; readonly released: PromiseWithResolvers<void> }
>();
/** Names of sessions whose model decides differently from now on. */
const rewound = new Set<string>();
let stage: TestRunner;
let runner: Runner;

beforeAll(async () => {
  stage = await startRunner(script, {
    limits: { retryMs: 20, claimMs: 20, approvalMs: 3_600_000 },
    codex: { config: { features: { request_permissions_tool: true } } },
    webhooks: { limits: WEBHOOK_LIMITS, allowPrivate: true },
  });
  ({ runner } = stage);
});
afterAll(async () => {
  await runner.close();
  await stage[Symbol.asyncDispose]();
});

/** Closes the daemon in this process and starts the next one. */
async function restart(): Promise<void> {
  await runner.close();
  runner = createRunner(stage.options);
  await runner.start();
}

async function waiting(
  message: string,
  count = 1,
): Promise<{ session: TestSession; rows: readonly ApprovalRow[] }> {
  const session = await stage.create({ permissionMode: "read-only" });
  await session.send(message);
  return { session, rows: await session.approval(count) };
}

async function parked(
  message: string,
  count = 1,
): Promise<{ session: TestSession; rows: readonly ApprovalRow[] }> {
  const { session, rows } = await waiting(message, count);
  expect(await session.run("park", {})).toEqual({ ok: true, parked: count });
  await pollUntil(async () => (await session.row()).node_id === null);
  return { session, rows };
}

const rowOf = (rows: readonly ApprovalRow[], callId: string): ApprovalRow | undefined =>
  rows.find(({ call_id: id }) => id === callId);

async function stored({ id }: ApprovalRow): Promise<ApprovalRow | undefined> {
  return stage.database.inbox.get(id);
}

/** The final response of the turn after the last answer. */
async function finalResponse(session: TestSession): Promise<string> {
  const events = await session.events();
  const { seq } = events.findLast(({ type }) => /^inbox\.(?:answered|expired|parked)$/.test(type)) ?? {
    seq: 0,
  };
  const end = await session.ended(undefined, seq);
  return end.type === "turn.completed" ? end.result.finalResponse : end.type;
}

const outputsOf = (text: string): (readonly [string, string])[] => JSON.parse(text) as [string, string][];
const count = (events: readonly SessionEvent[], type: string): number =>
  events.filter((event) => event.type === type).length;

describe("a parked session", () => {
  test("needs no owner and no process, and has its request in the inbox", async () => {
    const { session, rows } = await parked("one shown");
    const [row] = rows;
    expect(await session.row()).toMatchObject({
      phase: "parked",
      active_turn_id: null,
      // The session is claimed when the request expires.
      ready_at: row?.expires_at,
    });
    const found = await stage.database.inbox.list({ sessionId: session.id, state: "parked" });
    expect(found.rows).toMatchObject([
      { id: row?.id, state: "parked", parked_at: expect.any(Number) as number },
    ]);
    expect(JSON.parse(found.rows[0]?.progress ?? "")).toEqual({
      reason: "request",
      openCalls: ["a"],
      startedItems: [],
    });
    const events = await session.events();
    expect(events.slice(-4).map(({ type }) => type)).toEqual([
      "item.abandoned",
      "turn.interrupted",
      "inbox.parked",
      "command.finished",
    ]);
    await session.answer(row, DECLINE);
    expect(outputsOf(await finalResponse(session))).toEqual([
      ["a", expect.stringContaining("rejected by user")],
    ]);
  });

  test("never truncates the rollout of another session, although its request names that session's thread", async () => {
    const other = await stage.create();
    await other.send("message kept");
    await other.ended();
    const { rollouts, store } = stage.database;
    const threadId = (await other.row()).thread_id ?? "";
    const whole = await rollouts.read(threadId);
    const { session, rows } = await parked("one foreign");
    // An imported session may contain such a request.
    await store.db
      .updateTable("approval")
      .set({ thread_id: threadId, rollout_bytes: 10 })
      .where("id", "=", rows[0]?.id ?? "")
      .execute();
    await session.answer(rows[0], DECLINE);
    await session.event(({ type }) => type === "inbox.delivered");
    expect(await rollouts.read(threadId)).toEqual(whole);
    const again = await other.send("message again");
    expect(await other.ended(again.ok ? again["turnId"] : undefined)).toMatchObject({
      type: "turn.completed",
    });
  });

  test("never truncates a rollout that another session continues, although the session has it too", async () => {
    const other = await stage.create();
    await other.send("message kept");
    await other.ended();
    const { thread_id: threadId } = await other.row();
    const forked = await other.run("fork", {});
    const fork = new TestSession(String(forked.ok && forked["sessionId"]), stage.database);
    await fork.event((event) => event.type === "item.completed" && event.recovered === true);
    // From now on, no session owns the file.
    await other.submit("delete", {});
    await other.event(({ type }) => type === "session.deleted");
    const { rollouts, store } = stage.database;
    const rolloutId = threadId ?? "";
    const whole = await rollouts.read(rolloutId);
    const { session, rows } = await parked("one shared");
    // An imported session may contain such a request.
    const values = { session_id: session.id, rollout_id: rolloutId, role: "agent" } as const;
    await store.db.insertInto("session_rollout").values(values).execute();
    await store.db
      .updateTable("approval")
      .set({ thread_id: rolloutId, rollout_bytes: 10 })
      .where("id", "=", rows[0]?.id ?? "")
      .execute();
    await session.answer(rows[0], DECLINE);
    await session.event(({ type }) => type === "inbox.delivered");
    expect(await rollouts.read(rolloutId)).toEqual(whole);
    const again = await fork.send("message again");
    expect(await fork.ended(again.ok ? again["turnId"] : undefined)).toMatchObject({
      type: "turn.completed",
    });
  });

  test("accepts the first of two answers, and names its author in the refusal of the second", async () => {
    const { session, rows } = await parked("one raced");
    const [row] = rows;
    const answers = await Promise.allSettled([
      stage.database.inbox.answer(row?.id ?? "", { answer: ACCEPT, by: "ann" }),
      stage.database.inbox.answer(row?.id ?? "", { answer: DECLINE, by: "bob" }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected"]);
    expect(answers[1]).toMatchObject({
      reason: { code: "already_answered", details: { winner: { by: "ann" } } },
    });
    expect(outputsOf(await finalResponse(session))).toHaveLength(1);
    expect(await runsOf(stage.workspace, "raced")).toBe(1);
  });

  test("continues when the last of its requests is answered, and reports concurrent calls", async () => {
    const { session, rows } = await waiting("parallel days", 2);
    // The concurrent command has started. Codex has not written its output yet.
    await session.event((event) => event.type === "item.started" && event.item.id === "b");
    await session.run("park", {});
    await session.answer(rowOf(rows, "c"), DECLINE);
    await restart();
    await pollUntil(async () => (await session.row()).node_id === null);
    expect(await runsOf(stage.workspace, "days")).toBe(0);
    await session.answer(rowOf(rows, "a"), ACCEPT);
    expect(outputsOf(await finalResponse(session))).toEqual([
      ["a", expect.stringMatching(/exited with code 0[^]*done/)],
      ["b", expect.stringContaining("It may have run")],
      ["c", expect.stringContaining("rejected by user")],
    ]);
    expect(await runsOf(stage.workspace, "days")).toBe(1);
    expect(count(await session.events(), "inbox.delivered")).toBe(2);
  });

  test("declines expired requests", async () => {
    const { session, rows } = await parked("one expired");
    const id = rows[0]?.id ?? "";
    const { db } = stage.database.store;
    await db.updateTable("approval").set({ expires_at: 1 }).where("id", "=", id).execute();
    await db.updateTable("session").set({ ready_at: 1 }).where("id", "=", session.id).execute();
    await session.event(({ type }) => type === "inbox.expired");
    expect(outputsOf(await finalResponse(session))).toEqual([
      ["a", expect.stringContaining("rejected by user")],
    ]);
    await expect(session.answer(rows[0], ACCEPT)).rejects.toMatchObject({ code: "already_answered" });
    expect(await runsOf(stage.workspace, "expired")).toBe(0);
  });

  test.each(["acceptForSession", "acceptWithPrefix"])(
    "applies an answer to later requests: %s",
    async (offer) => {
      const { session, rows } = await parked(`twice ${offer}`);
      await session.answer(rows[0], { type: "decision", offer });
      expect(outputsOf(await finalResponse(session))).toEqual([
        ["a", expect.stringContaining("done")],
        ["again", expect.stringContaining("done")],
      ]);
      expect(await runsOf(stage.workspace, offer)).toBe(2);
      expect(count(await session.events(), "inbox.opened")).toBe(1);
    },
  );

  test("stops its turn if the answer requires it", async () => {
    const { session, rows } = await parked("one cancelled");
    await session.answer(rows[0], { type: "decision", offer: "cancel" });
    await session.event(({ type }) => type === "inbox.delivered");
    await session.send("message x");
    expect(await session.ended(undefined, (await session.events()).at(-1)?.seq)).toMatchObject({
      result: { finalResponse: 'told: ["aborted"]' },
    });
    expect(await runsOf(stage.workspace, "cancelled")).toBe(0);
  });
});

test("a webhook tool that was called concurrently with a request is not called again", async () => {
  const called = Promise.withResolvers<void>();
  // The receiver never responds.
  await using receiver = await Receiver.start(() => called.resolve());
  const session = await stage.create({
    permissionMode: "read-only",
    tools: [
      {
        name: "weather",
        description: "Tells the weather",
        inputSchema: { type: "object" },
        url: receiver.url,
        secret: SECRET,
      },
    ],
  });
  await session.send("tool beside");
  const rows = await session.approval();
  await called.promise;
  await session.run("park", {});
  await session.answer(rows[0], ACCEPT);
  expect(outputsOf(await finalResponse(session))).toEqual([
    ["w", expect.stringContaining("It may have run")],
    ["a", expect.stringContaining("done")],
  ]);
  expect(receiver.received).toHaveLength(1);
  expect(await runsOf(stage.workspace, "beside")).toBe(1);
});

describe("commands for a parked session", () => {
  test("a queued message waits, as during a running turn", async () => {
    const { session, rows } = await parked("one queued");
    const commandId = await session.submit("message", { input: "message after", mode: "queue" });
    await pollUntil(async () => (await session.row()).node_id !== null);
    await session.answer(rows[0], ACCEPT);
    expect(outputsOf(await finalResponse(session))).toHaveLength(1);
    expect(await session.result(commandId)).toMatchObject({ ok: true });
    const ended = await session.event(
      (event) => event.type === "turn.completed" && event.result.finalResponse.startsWith("told"),
    );
    expect(ended).toMatchObject({ result: { finalResponse: expect.stringContaining("done") as string } });
    expect(await runsOf(stage.workspace, "queued")).toBe(1);
  });

  test("a message with mode start ends the request, and the model is informed", async () => {
    const { session, rows } = await parked("one replaced");
    expect(await session.send("message instead", "steer")).toMatchObject({
      problem: { type: "turn_not_running" },
    });
    const { seq } = (await session.events()).at(-1) ?? { seq: 0 };
    expect(await session.send("message instead", "start")).toMatchObject({ ok: true });
    expect(await session.ended(undefined, seq)).toMatchObject({
      result: {
        finalResponse:
          'told: ["This call of exec_command was not completed: A new message was sent instead of an answer."]',
      },
    });
    expect(await stored(rows[0] as ApprovalRow)).toMatchObject({ state: "withdrawn" });
    expect(await runsOf(stage.workspace, "replaced")).toBe(0);
  });

  test("an interrupt ends the request, as it would end a running turn", async () => {
    const { session, rows } = await parked("one interrupted");
    expect(await session.run("interrupt", {})).toEqual({ ok: true, interrupted: true });
    expect(await stored(rows[0] as ApprovalRow)).toMatchObject({
      state: "withdrawn",
      note: "The turn was interrupted.",
    });
    expect(await session.row()).toMatchObject({ phase: "idle" });
    await session.send("message next");
    expect(await session.ended(undefined, (await session.events()).at(-1)?.seq)).toMatchObject({
      result: { finalResponse: 'told: ["aborted"]' },
    });
  });

  test("a deleted session has no open requests", async () => {
    const { session, rows } = await parked("one deleted");
    await session.submit("delete", {});
    await session.event(({ type }) => type === "session.deleted");
    await expect(session.answer(rows[0], ACCEPT)).rejects.toMatchObject({
      code: expect.stringMatching(/already_answered|approval_not_found/) as string,
    });
    expect(await runsOf(stage.workspace, "deleted")).toBe(0);
  });

  test("parking a session without open requests does nothing", async () => {
    const session = await stage.create();
    await session.send("message idle");
    await session.ended();
    expect(await session.run("park", {})).toEqual({ ok: true, parked: 0 });
    expect(await session.row()).toMatchObject({ phase: "idle" });
  });
});

describe("a command that was accepted", () => {
  async function running(name: string): Promise<{ session: TestSession; row: ApprovalRow | undefined }> {
    const { session, rows } = await parked(`slow ${name}`);
    await session.answer(rows[0], ACCEPT);
    await pollUntil(async () => (await runsOf(stage.workspace, name)) === 1);
    return { session, row: rows[0] };
  }

  test("makes the session run, so that it is not idle and can't be exported, until its turn has ended", async () => {
    const { session, rows } = await parked("gated phased");
    await session.answer(rows[0], ACCEPT);
    await pollUntil(async () => (await runsOf(stage.workspace, "phased")) === 1);
    expect(await session.row()).toMatchObject({ phase: "running", active_turn_id: null });
    await expect(exportSession(stage.database, session.id)).rejects.toMatchObject({ code: "turn_running" });
    await writeFile(join(stage.workspace, "phased.open"), "");
    await finalResponse(session);
    await pollUntil(async () => (await session.row()).phase === "idle");
  });

  test("has its exit code and its output in its item", async () => {
    const { session, rows } = await parked("one shown-output");
    expect(await stage.database.journal.item(session.id, "a")).toMatchObject({ status: "abandoned" });
    await session.answer(rows[0], ACCEPT);
    await finalResponse(session);
    const item = await stage.database.journal.item(session.id, "a");
    expect(item).toMatchObject({ status: "completed" });
    expect(JSON.parse(item?.preview ?? "{}")).toMatchObject({
      type: "commandExecution",
      status: "completed",
      exitCode: 0,
      aggregatedOutput: "done\n",
    });
    const ends = (await session.events()).filter(
      (event) => event.type === "item.completed" && event.item.id === "a",
    );
    expect(ends).toMatchObject([{ turnId: rows[0]?.turn_id, threadId: rows[0]?.thread_id }]);
  });

  test("is declined in its item if it was declined", async () => {
    const { session, rows } = await parked("one shown-refusal");
    await session.answer(rows[0], DECLINE);
    await finalResponse(session);
    const item = await stage.database.journal.item(session.id, "a");
    expect(item).toMatchObject({ status: "failed" });
    expect(JSON.parse(item?.preview ?? "{}")).toMatchObject({ status: "declined", exitCode: null });
  });

  test("is stopped by an interrupt, and the model is informed", async () => {
    const { session, row } = await running("halted");
    expect(await session.run("interrupt", {})).toEqual({ ok: true, interrupted: true });
    expect(await stored(row as ApprovalRow)).toMatchObject({ state: "delivered" });
    expect(await session.row()).toMatchObject({ phase: "idle", active_turn_id: null });
    const { seq } = (await session.events()).at(-1) ?? { seq: 0 };
    await session.send("message next");
    expect(await session.ended(undefined, seq)).toMatchObject({
      result: { finalResponse: expect.stringContaining("stopped before it completed") as string },
    });
  });

  test("is stopped by a message with mode start", async () => {
    const { session } = await running("overtaken");
    const { seq } = (await session.events()).at(-1) ?? { seq: 0 };
    expect(await session.send("message instead", "start")).toMatchObject({ ok: true });
    expect(await session.ended(undefined, seq)).toMatchObject({
      result: { finalResponse: expect.stringContaining("stopped before it completed") as string },
    });
  });

  test("is stopped when its session is deleted", async () => {
    const { session } = await running("removed");
    await session.submit("delete", {});
    await session.event(({ type }) => type === "session.deleted");
  });
});

describe("a daemon that is shut down", () => {
  test("waits for a delivery and its turn", async () => {
    const { session, rows } = await parked("gated shutdown");
    await session.answer(rows[0], ACCEPT);
    await pollUntil(async () => (await runsOf(stage.workspace, "shutdown")) === 1);
    const drained = runner.drain(20_000);
    await writeFile(join(stage.workspace, "shutdown.open"), "");
    await drained;
    expect(outputsOf(await finalResponse(session))).toEqual([["a", expect.stringContaining("done")]]);
    expect(await session.row()).toMatchObject({ phase: "idle", node_id: null });
    await restart();
  });

  test("stops a delivery that takes too long, and the next daemon continues it", async () => {
    const { session, rows } = await parked("slow stopped");
    await session.answer(rows[0], ACCEPT);
    await pollUntil(async () => (await runsOf(stage.workspace, "stopped")) === 1);
    await runner.close();
    expect(await session.row()).toMatchObject({ phase: "parked", node_id: null });
    await restart();
    expect(outputsOf(await finalResponse(session))).toEqual([
      ["a", expect.stringContaining("stopped before it completed")],
    ]);
    expect(await runsOf(stage.workspace, "stopped")).toBe(1);
  });

  test("keeps an answer whose request the model could not repeat yet", async () => {
    const { session, rows } = await parked("held kept");
    const hold = { asked: Promise.withResolvers<void>(), released: Promise.withResolvers<void>() };
    held.set("kept", hold);
    await session.answer(rows[0], ACCEPT);
    await hold.asked.promise;
    await runner.close();
    expect(await stored(rows[0] as ApprovalRow)).toMatchObject({ state: "answered" });
    hold.released.resolve();
    await restart();
    await session.event(({ type }) => type === "inbox.delivered");
    expect(await stored(rows[0] as ApprovalRow)).toMatchObject({ state: "delivered" });
  });
});

describe("a delivery that is interrupted by a crash", () => {
  test("while the command runs is not repeated, and the model is informed that the outcome is unknown", async () => {
    const { session, rows } = await parked("slow unknown");
    await session.answer(rows[0], ACCEPT);
    await pollUntil(async () => (await runsOf(stage.workspace, "unknown")) === 1);
    const pid = runner.status.appServers[0]?.pid ?? 0;
    process.kill(pid, "SIGKILL");
    expect(outputsOf(await finalResponse(session))).toEqual([
      ["a", expect.stringContaining("It may have run")],
    ]);
    expect(await runsOf(stage.workspace, "unknown")).toBe(1);
    await pollUntil(async () => (await session.row()).phase === "idle");
    expect(await stage.database.journal.item(session.id, "a")).toMatchObject({ status: "abandoned" });
    expect((await session.events()).find(({ type }) => type === "inbox.delivered")).toMatchObject({
      strategy: "report",
    });
  });

  test("before the turn continues delivers the stored output without running the command again", async () => {
    const { session, rows } = await parked("one stored");
    const progress: ParkedProgress = {
      strategy: "inject",
      action: "done",
      output: "Process exited with code 0\nOutput:\nstored",
      isContinued: true,
      cutBytes: rows[0]?.rollout_bytes ?? 0,
    };
    await keepProgress(rows[0], progress);
    await session.answer(rows[0], ACCEPT);
    expect(outputsOf(await finalResponse(session))).toEqual([["a", expect.stringContaining("stored")]]);
    expect(await runsOf(stage.workspace, "stored")).toBe(0);
  });

  test("after the turn continued starts no other turn", async () => {
    const { session, rows } = await parked("one finished");
    await session.answer(rows[0], ACCEPT);
    await finalResponse(session);
    const before = await session.events();
    const { db } = stage.database.store;
    await db
      .updateTable("approval")
      .set({ state: "answered", submitted_at: null })
      .where("id", "=", rows[0]?.id ?? "")
      .execute();
    await db
      .updateTable("session")
      .set({ ready_at: 1, node_id: null })
      .where("id", "=", session.id)
      .execute();
    await restart();
    await session.event(({ type }) => type === "inbox.delivered", before.at(-1)?.seq);
    expect(count(await session.events(), "turn.started")).toBe(2);
    expect(await runsOf(stage.workspace, "finished")).toBe(1);
  });

  test("after Codex received the answer reports that the outcome is unknown", async () => {
    const { session, rows } = await waiting("slow told");
    await session.answer(rows[0], ACCEPT);
    await pollUntil(async () => (await runsOf(stage.workspace, "told")) === 1);
    const [row] = rows;
    // It is unknown whether Codex acted on the answer.
    await pollUntil(async () => (await stored(row as ApprovalRow))?.state === "delivered");
    process.kill(runner.status.appServers[0]?.pid ?? 0, "SIGKILL");
    await session.event(({ type }) => type === "inbox.parked");
    expect(outputsOf(await finalResponse(session))).toEqual([
      ["a", expect.stringContaining("It may have run")],
    ]);
    expect(await runsOf(stage.workspace, "told")).toBe(1);
  });
});

describe("a model that decides again", () => {
  test("and is interrupted before it asks is informed of the answer, which applies to an identical request", async () => {
    const { session, rows } = await parked("cutoff x");
    const [row] = rows;
    const { progress } = (await stored(row as ApprovalRow)) ?? {};
    const file = (await stage.database.rollouts.read(row?.thread_id ?? "")) ?? new Uint8Array();
    const lines = [...readLines(file)];
    const [call] = findOpenCalls(lines);
    // The state after a daemon was killed when the model had responded.
    await keepProgress(row, {
      ...(JSON.parse(progress ?? "{}") as ParkedProgress),
      strategy: "rewind",
      isContinued: true,
      cutBytes: startOfResponse(lines, call as ModelCall),
    });
    await session.answer(row, ACCEPT);
    expect(outputsOf(await finalResponse(session)).map(([, output]) => output)).toEqual([
      expect.stringContaining("A person accepted"),
      expect.stringContaining('"network":{"enabled":true}'),
    ]);
    expect(await stored(row as ApprovalRow)).toMatchObject({ state: "delivered" });
  });

  test("and sends a different request needs a new answer", async () => {
    const { session, rows } = await parked("different choice");
    rewound.add("choice");
    await session.answer(rows[0], ACCEPT);
    const opened = await session.event(
      (event) => event.type === "inbox.opened" && event.approvalId !== rows[0]?.id,
    );
    expect(opened).toBeDefined();
    expect(await runsOf(stage.workspace, "choice")).toBe(0);
    const [other] = (await stage.database.inbox.list({ sessionId: session.id, state: "open" })).rows;
    expect(other).toMatchObject({ kind: "command" });
    // The new request can be parked too.
    expect(await session.run("park", {})).toEqual({ ok: true, parked: 1 });
    await session.answer(other, ACCEPT);
    expect(await finalResponse(session)).toBe("other");
    expect(await stored(rows[0] as ApprovalRow)).toMatchObject({ state: "withdrawn" });
    expect(await stored(other as ApprovalRow)).toMatchObject({ state: "delivered" });
    expect(await runsOf(stage.workspace, "choice")).toBe(1);
  });
});

test.each(["waits", "is parked"])(
  "a fork that is made while a request %s keeps its history, and the answer is reported",
  async (when) => {
    const { session, rows } =
      when === "waits" ? await waiting("held forkedOpen") : await parked("held forkedParked");
    const forked = await session.run("fork", {});
    const fork = new TestSession(String(forked.ok && forked["sessionId"]), stage.database);
    await fork.event((event) => event.type === "item.completed" && event.recovered === true);
    await session.run("park", {});
    await session.answer(rows[0], ACCEPT);
    expect(outputsOf(await finalResponse(session))).toEqual([
      [rows[0]?.call_id, expect.stringContaining("A person accepted the permissions")],
    ]);
    const again = await fork.send("message again");
    expect(await fork.ended(again.ok ? again["turnId"] : undefined)).toMatchObject({
      result: { finalResponse: expect.stringContaining("told") as string },
    });
  },
);

test("requests are parked when memory is short", async () => {
  await runner.close();
  await using low = createRunner({
    ...stage.options,
    limits: { ...stage.options.limits, minAvailableMemory: Number.POSITIVE_INFINITY, memoryCheckMs: 20 },
  });
  await low.start();
  const { session, rows } = await waiting("one memory");
  await session.event(({ type }) => type === "inbox.parked");
  await session.answer(rows[0], ACCEPT);
  expect(outputsOf(await finalResponse(session))).toHaveLength(1);
  expect(await runsOf(stage.workspace, "memory")).toBe(1);
});

async function keepProgress(row: ApprovalRow | undefined, progress: ParkedProgress): Promise<void> {
  await stage.database.store.db
    .updateTable("approval")
    .set({ progress: JSON.stringify(progress) })
    .where("id", "=", row?.id ?? "")
    .execute();
}
