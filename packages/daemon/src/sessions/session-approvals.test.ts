import { askUser, callTool, patch, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { StoreError } from "@codexkit/store";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { pollUntil } from "../../test/poll-until.ts";
import { startRunner, type TestRunner } from "../../test/start-runner.ts";
import { notificationKeys } from "../database/notifications.ts";
import { createRunner } from "./create-runner.ts";

describe("approvals", () => {
  const escalating: ScriptFunction = (request) => {
    const done = request.commandResult("a");
    if (done) return say(`exit ${done.exitCode}`);
    return [
      run("touch one", { callId: "a", escalate: "needs to write" }),
      run("touch two", { callId: "b", escalate: "needs to write too" }),
    ];
  };

  test("of a read-only session wait in the inbox, each for its own answer", async () => {
    await using stage = await startRunner(escalating);
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    const approvals = await session.approval(2);
    const first = approvals.find(({ item_id: itemId }) => itemId === "a");
    const second = approvals.find(({ item_id: itemId }) => itemId === "b");
    expect(first).toMatchObject({ kind: "command", state: "open" });
    expect(JSON.parse(first?.request ?? "")).toMatchObject({ kind: "command", reason: "needs to write" });
    expect(JSON.parse(first?.verdict ?? "")).toMatchObject({
      decision: "ask",
      segments: [{ command: "touch one", decision: "ask" }],
    });
    expect(await session.row()).toMatchObject({ phase: "waiting" });
    await session.answer(first, { type: "decision", offer: "accept" });
    await session.answer(second, { type: "decision", offer: "decline" });
    await session.ended();
    expect(existsSync(join(stage.workspace, "one"))).toBe(true);
    expect(existsSync(join(stage.workspace, "two"))).toBe(false);
    const { rows } = await stage.database.inbox.list({ sessionId: session.id });
    expect(rows.map(({ state }) => state)).toEqual(["delivered", "delivered"]);
  });

  test("that the policy allows are accepted without an inbox entry, and recorded", async () => {
    await using stage = await startRunner(escalating);
    const session = await stage.create();
    await session.send("go");
    await session.ended();
    expect(existsSync(join(stage.workspace, "one"))).toBe(true);
    const events = await session.events();
    expect(events.some(({ type }) => type === "inbox.opened")).toBe(false);
    expect(events.find(({ type }) => type === "approval.resolved")).toMatchObject({
      outcome: { by: "handler", decision: "accept", reason: expect.any(String) as string },
    });
  });

  test("are withdrawn when the turn is interrupted", async () => {
    await using stage = await startRunner(escalating);
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    const [approval] = await session.approval();
    await session.run("interrupt", {});
    await session.event(({ type }) => type === "inbox.withdrawn");
    await expect(session.answer(approval, { type: "decision", offer: "accept" })).rejects.toMatchObject({
      code: "already_answered",
    });
    expect(existsSync(join(stage.workspace, "one"))).toBe(false);
  });

  test("keep waiting for an answer while the store can't be reached", async () => {
    await using stage = await startRunner(escalating);
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    const [first, second] = await session.approval(2);
    const { inbox, store } = stage.database;
    const get = inbox.get.bind(inbox);
    const failed = Promise.withResolvers<void>();
    inbox.get = () => {
      inbox.get = get;
      failed.resolve();
      return Promise.reject(new StoreError("store_unavailable", "Postgres is not available."));
    };
    store.notifier.notify([notificationKeys.approval(first?.id ?? "")]);
    await failed.promise;
    await session.answer(first, { type: "decision", offer: "accept" });
    await session.answer(second, { type: "decision", offer: "accept" });
    await session.ended();
    expect(existsSync(join(stage.workspace, "one"))).toBe(true);
    expect(existsSync(join(stage.workspace, "two"))).toBe(true);
  });

  test("are declined when they expire", async () => {
    await using stage = await startRunner(escalating, { limits: { approvalMs: 50 } });
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    await session.event(({ type }) => type === "inbox.expired");
    await session.ended();
    expect(existsSync(join(stage.workspace, "one"))).toBe(false);
  });

  test("are declined at the stored time, which was set before a restart or with another limit", async () => {
    await using stage = await startRunner(escalating, { limits: { approvalMs: 3_600_000 } });
    const { inbox, store } = stage.database;
    const open = inbox.open.bind(inbox);
    inbox.open = async (...given) => {
      const { approval, isNew } = await open(...given);
      const expiresAt = approval.created_at + 300;
      await store.db
        .updateTable("approval")
        .set({ expires_at: expiresAt })
        .where("id", "=", approval.id)
        .execute();
      return { approval: { ...approval, expires_at: expiresAt }, isNew };
    };
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    expect(await session.ended()).toMatchObject({ type: "turn.completed" });
    const { rows } = await inbox.list({ sessionId: session.id });
    expect(rows.map(({ state }) => state)).toEqual(["expired", "expired"]);
    expect(existsSync(join(stage.workspace, "one"))).toBe(false);
  });

  test("of a patch include its diff", async () => {
    const text = "*** Begin Patch\n*** Add File: note.txt\n+hello\n*** End Patch";
    const model: ScriptFunction = ({ input }) =>
      JSON.stringify(input).includes("_output") ? say("finished") : patch(text);
    await using stage = await startRunner(model);
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    const [approval] = await session.approval();
    expect(JSON.parse(approval?.request ?? "")).toMatchObject({
      kind: "fileChange",
      changes: [
        {
          kind: "add",
          path: join(stage.workspace, "note.txt"),
          diff: expect.stringContaining("hello") as string,
        },
      ],
    });
    await session.answer(approval, { type: "decision", offer: "accept" });
    await session.ended();
    expect(existsSync(join(stage.workspace, "note.txt"))).toBe(true);
  });

  test("deliver answers to the model's questions", async () => {
    const options = ["blue", "mauve"].map((label) => ({ label, description: label }));
    const model: ScriptFunction = (request) =>
      request.newOutputs.length === 0
        ? askUser([{ id: "q", header: "Colour", question: "Which?", options }], { callId: "ask" })
        : say(request.output("ask")?.text ?? "");
    await using stage = await startRunner(model, { modelName: "gpt-5.5" });
    const session = await stage.create({ agentMode: "plan" });
    await session.send("go");
    const [approval] = await session.approval();
    expect(approval).toMatchObject({ kind: "userInput" });
    await session.answer(approval, { type: "answers", answers: { q: "mauve" } });
    expect(await session.ended()).toMatchObject({
      result: { finalResponse: expect.stringContaining("mauve") as string },
    });
  });

  test("of identical calls are opened one by one, although the store is slow", async () => {
    const pay = (id: string) => callTool("pay", { amount: 3 }, { namespace: "mcp__till", callId: id });
    const model: ScriptFunction = ({ outputs }) =>
      outputs.length < 2 ? pay(`call-${outputs.length}`) : say("finished");
    await using stage = await startRunner(model);
    const isStored = Promise.withResolvers<void>();
    const { inbox } = stage.database;
    const delivered = inbox.delivered.bind(inbox);
    // Codex sends the request for the second call before the first entry is closed.
    inbox.delivered = async (...given) => {
      await isStored.promise;
      await delivered(...given);
    };
    const server = join(import.meta.dirname, "../../../sdk/test/mcp-server.ts");
    const session = await stage.create({
      mcpServers: {
        till: { command: process.execPath, args: ["--conditions=codexkit:source", server] },
      },
    });
    await session.send("go");
    const [first] = await session.approval();
    await session.answer(first, { type: "decision", offer: "accept" });
    await session.event((event) => event.type === "inbox.opened" && event.approvalId !== first?.id);
    const [second] = await session.approval();
    expect(second).toMatchObject({ state: "open", request: first?.request });
    isStored.resolve();
    await session.answer(second, { type: "decision", offer: "decline" });
    await session.ended();
    const { rows } = await inbox.list({ sessionId: session.id });
    expect(rows.map(({ answer }) => JSON.parse(answer ?? "") as unknown)).toMatchObject([
      { offer: "decline" },
      { offer: "accept" },
    ]);
  });

  /** A session with a request whose entry is stored when `store` is called. */
  async function startOpening(stage: TestRunner) {
    const asked = Promise.withResolvers<void>();
    const mayStore = Promise.withResolvers<void>();
    const { inbox } = stage.database;
    const open = inbox.open.bind(inbox);
    inbox.open = async (...given) => {
      asked.resolve();
      await mayStore.promise;
      return open(...given);
    };
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    await asked.promise;
    return { session, store: () => mayStore.resolve() };
  }
  const one: ScriptFunction = (request) =>
    request.outputs.length > 0 ? say("finished") : run("touch one", { callId: "a", escalate: "why" });

  test("that are being stored when the daemon drains are parked", async () => {
    await using stage = await startRunner(one);
    const { session, store } = await startOpening(stage);
    const drained = stage.runner.drain(0);
    await pollUntil(() => stage.runner.status.state === "draining");
    store();
    await drained;
    const { rows } = await stage.database.inbox.list({ sessionId: session.id });
    expect(rows.map(({ state }) => state)).toEqual(["parked"]);
    await session.answer(rows[0], { type: "decision", offer: "accept" });
    await using next = createRunner(stage.options);
    await next.start();
    await session.event(({ type }) => type === "turn.completed");
    expect(existsSync(join(stage.workspace, "one"))).toBe(true);
  });

  test("that are being stored when their turn is interrupted are withdrawn", async () => {
    await using stage = await startRunner(one);
    const { session, store } = await startOpening(stage);
    await session.run("interrupt", {});
    await session.event(({ type }) => type === "turn.interrupted");
    store();
    await session.event(({ type }) => type === "inbox.withdrawn");
    await pollUntil(async () => (await session.row()).phase === "idle");
    const { rows } = await stage.database.inbox.list({ sessionId: session.id });
    expect(rows.map(({ state }) => state)).toEqual(["withdrawn"]);
  });

  test("that were still open when their session was released are parked by its next owner", async () => {
    await using stage = await startRunner(one, { limits: { claimMs: 20 } });
    const { session, store } = await startOpening(stage);
    const { inbox } = stage.database;
    const withdraw = inbox.withdraw.bind(inbox);
    const isWithdrawn = Promise.withResolvers<void>();
    // The daemon shuts down before it has stored this.
    inbox.withdraw = () => {
      isWithdrawn.resolve();
      return new Promise(() => {});
    };
    await session.run("interrupt", {});
    await session.event(({ type }) => type === "turn.interrupted");
    store();
    await isWithdrawn.promise;
    await stage.runner.close();
    inbox.withdraw = withdraw;
    expect(await session.row()).toMatchObject({ phase: "waiting", node_id: null });
    await using next = createRunner(stage.options);
    await next.start();
    await session.event(({ type }) => type === "inbox.parked");
    const { rows } = await inbox.list({ sessionId: session.id });
    await session.answer(rows[0], { type: "decision", offer: "decline" });
    await session.event(({ type }) => type === "inbox.delivered");
    await pollUntil(async () => (await session.row()).phase === "idle");
  });

  test.each([
    ["withdrawn", null],
    ["delivered", 1],
  ])(
    "whose turn has ended are %s by the next owner, if the former one did not store it",
    async (state, at) => {
      await using stage = await startRunner(one, { limits: { claimMs: 20 } });
      const session = await stage.create({ permissionMode: "read-only" });
      await session.send("go");
      const [row] = await session.approval();
      await session.answer(row, { type: "decision", offer: "decline" });
      await session.ended();
      await pollUntil(async () => (await stage.database.inbox.get(row?.id ?? ""))?.state === "delivered");
      await stage.runner.close();
      const { db } = stage.database.store;
      // The state after a daemon was killed when it had stored the end of the turn.
      const former = { state: "answered", submitted_at: at } as const;
      await db
        .updateTable("approval")
        .set(former)
        .where("id", "=", row?.id ?? "")
        .execute();
      await db.updateTable("session").set({ ready_at: 1 }).where("id", "=", session.id).execute();
      await using next = createRunner(stage.options);
      await next.start();
      await pollUntil(async () => (await stage.database.inbox.get(row?.id ?? ""))?.state === state);
      expect(await session.row()).toMatchObject({ phase: "idle", ready_at: null });
    },
  );

  test("are never requested in bypass", async () => {
    await using stage = await startRunner((request) =>
      request.commandResult("c") ? say("end") : run("touch /tmp/../$PWD/two", { callId: "c" }),
    );
    const bypassing = await stage.create({ permissionMode: "bypass" });
    await bypassing.send("go");
    await bypassing.ended();
    expect(existsSync(join(stage.workspace, "two"))).toBe(true);
    expect((await bypassing.events()).some(({ type }) => type === "approval.requested")).toBe(false);
  });

  test("deny dangerous commands in danger-full-access, and allow all others", async () => {
    const model: ScriptFunction = (request) => {
      const first = request.commandResult("ok");
      if (!first) return run("touch made", { callId: "ok" });
      return request.commandResult("bad") ? say("end") : run("rm -rf /", { callId: "bad" });
    };
    await using stage = await startRunner(model);
    const session = await stage.create({ permissionMode: "danger-full-access" });
    await session.send("go");
    await session.ended();
    expect(existsSync(join(stage.workspace, "made"))).toBe(true);
    const resolved = (await session.events()).filter(({ type }) => type === "approval.resolved");
    expect(resolved).toMatchObject([
      { outcome: { decision: "accept" } },
      { itemId: "bad", outcome: { decision: "decline" } },
    ]);
  });

  test("of MCP tools, and forms of MCP servers, have inbox entries", async () => {
    const server = join(import.meta.dirname, "../../../sdk/test/mcp-server.ts");
    const mcpServers = {
      till: { command: process.execPath, args: ["--conditions=codexkit:source", server] },
    };
    const model: ScriptFunction = (request) =>
      request.newOutputs.length === 0
        ? callTool("pay", { amount: 3 }, { namespace: "mcp__till", callId: "call" })
        : say(request.output("call")?.text ?? "");
    await using stage = await startRunner(model);
    const session = await stage.create({ mcpServers, permissionMode: "read-only" });
    await session.send("go");
    const [approval] = await session.approval();
    expect(JSON.parse(approval?.request ?? "")).toMatchObject({
      kind: "mcpTool",
      server: "till",
      tool: "pay",
    });
    await session.answer(approval, { type: "decision", offer: "accept" });
    const end = await session.ended();
    expect(end).toMatchObject({ type: "turn.completed" });
  });
});
