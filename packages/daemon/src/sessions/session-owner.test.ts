import { gate, run, say, type Script, type ScriptFunction, usage, waitFor } from "@codexkit/scripted-model";
import { CODEX_VERSION } from "codexkit";
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { acceptAgentCommand, escalatingAgent } from "../../test/escalating-agent.ts";
import { startRunner, TestSession } from "../../test/start-runner.ts";
import type { SessionEvent } from "../api/event.ts";

const echo: ScriptFunction = ({ lastUserText }) => [
  say(`received: ${lastUserText}`),
  usage({ input: 10, output: 5 }),
];

/** A model that delays every turn whose message starts with "hold" until the gate opens. */
function holding(open: ReturnType<typeof gate>): Script {
  return ({ lastUserText }) =>
    lastUserText.startsWith("hold")
      ? say(["half ", waitFor(open), "done"])
      : say(`received: ${lastUserText}`);
}

const isDelta = ({ type }: SessionEvent): boolean => type === "item.delta";

function userTexts(events: readonly SessionEvent[]): string[] {
  return events.flatMap((event) =>
    event.type === "item.completed" && event.item.type === "userMessage"
      ? event.item.content.map((part) => (part.type === "text" ? part.text : part.type))
      : [],
  );
}

describe("messages", () => {
  test("are run, and their events are stored in order", async () => {
    await using stage = await startRunner(echo);
    const session = await stage.create();
    expect(await session.send("hello")).toMatchObject({ ok: true });
    await session.ended();
    const events = await session.events();
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    const types = events.map(({ type }) => type).filter((type) => /^(?:turn|item|usage)\./.test(type));
    expect(types).toEqual([
      "turn.started",
      "item.started",
      "item.completed",
      "item.started",
      "item.delta",
      "item.completed",
      "usage.updated",
      "turn.completed",
    ]);
    expect(events.findLast(({ type }) => type === "turn.completed")).toMatchObject({
      result: { finalResponse: "received: hello", usage: { totalTokens: 15 } },
    });
    expect(await session.row()).toMatchObject({ phase: "idle", active_turn_id: null });
  });

  test("have deltas with offsets", async () => {
    await using stage = await startRunner([say(["one ", "two ", "three"])]);
    const session = await stage.create();
    await session.send("go");
    await session.ended();
    const deltas = (await session.events()).flatMap((event) =>
      event.type === "item.delta" ? [[event.offset, event.delta]] : [],
    );
    expect(deltas).toEqual([
      [0, "one "],
      [4, "two "],
      [8, "three"],
    ]);
  });

  test("with images reach the model", async () => {
    await using stage = await startRunner(echo);
    const session = await stage.create();
    const url = `data:image/png;base64,${Buffer.from("89504e470d0a1a0a", "hex").toString("base64")}`;
    const body = {
      input: [
        { type: "text" as const, text: "look" },
        { type: "image" as const, url },
      ],
      mode: "start" as const,
    };
    expect(await session.run("message", body)).toMatchObject({ ok: true });
    await session.ended();
    expect(userTexts(await session.events())).toEqual(["look", "image"]);
  });

  test("wait in the queue, in order, and can be removed from it", async () => {
    const open = gate();
    await using stage = await startRunner(holding(open));
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    const first = await session.submit("message", { input: "first", mode: "queue" });
    const removed = await session.submit("message", { input: "removed", mode: "queue" });
    const second = await session.submit("message", { input: "second", mode: "queue" });
    expect(await session.run("unqueue", { commandId: removed })).toMatchObject({ ok: true });
    expect(await session.result(removed)).toMatchObject({ ok: false, problem: { code: "unqueued" } });
    open.open();
    const [one, two] = [await session.result(first), await session.result(second)];
    await session.ended(two.ok ? two["turnId"] : undefined);
    expect(one).toMatchObject({ ok: true });
    expect(userTexts(await session.events())).toEqual(["hold", "first", "second"]);
    expect(await session.run("unqueue", { commandId: first })).toMatchObject({
      problem: { type: "unprocessable" },
    });
  });

  test("with mode start are refused during a turn, and with mode steer without one", async () => {
    const open = gate();
    await using stage = await startRunner(holding(open));
    const session = await stage.create();
    expect(await session.send("early", "steer")).toMatchObject({ problem: { type: "turn_not_running" } });
    await session.send("hold", "start");
    await session.event(isDelta);
    expect(await session.send("late", "start")).toMatchObject({ problem: { type: "turn_running" } });
    expect(await session.send("also this", "steer")).toMatchObject({ ok: true });
    open.open();
    await session.ended();
    expect(userTexts(await session.events())).toEqual(["hold", "also this"]);
  });

  test("with the same idempotency key are sent once", async () => {
    await using stage = await startRunner(echo);
    const session = await stage.create();
    const body = { input: "once", mode: "queue" as const };
    const ids = await Promise.all([1, 2, 3].map(() => session.submit("message", body, "key")));
    expect(new Set(ids).size).toBe(1);
    await session.result(ids[0] ?? "");
    await session.ended();
    expect(userTexts(await session.events())).toEqual(["once"]);
  });

  test("interrupted turns end as interrupted, and the queue continues", async () => {
    const open = gate();
    await using stage = await startRunner(holding(open));
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    const next = await session.submit("message", { input: "next", mode: "queue" });
    expect(await session.run("interrupt", {})).toMatchObject({ ok: true, interrupted: true });
    expect(await session.event(({ type }) => type === "turn.interrupted")).toBeDefined();
    expect(await session.result(next)).toMatchObject({ ok: true });
    await session.event(({ type }) => type === "turn.completed");
    expect(await session.run("interrupt", {})).toMatchObject({ ok: true, interrupted: false });
  });
});

test("a session records the Codex version that has written its thread", async () => {
  await using stage = await startRunner(echo);
  const session = await stage.create();
  await session.send("go");
  expect((await session.row()).codex_version).toBe(CODEX_VERSION);
});

describe("limits", () => {
  test("an exhausted budget interrupts the turn and refuses the next", async () => {
    const model: ScriptFunction = (request) =>
      request.commandResult("c")
        ? say(["not ", waitFor(gate()), "finished"])
        : [run("true", { callId: "c" }), usage({ input: 90, output: 20 })];
    await using stage = await startRunner(model);
    const session = await stage.create({ budget: { totalTokens: 100 } });
    await session.send("go");
    expect(await session.ended()).toMatchObject({ type: "turn.interrupted" });
    expect(await session.send("more")).toMatchObject({
      problem: { type: "unprocessable", limit: "budget.totalTokens" },
    });
    expect(await session.run("settings", { budget: null, deadline: null })).toMatchObject({ ok: true });
    expect(JSON.parse((await session.row()).settings)).not.toHaveProperty("budget");
    expect(await session.send("more")).toMatchObject({ ok: true });
  });

  test("a deadline interrupts the turn", async () => {
    await using stage = await startRunner(holding(gate()));
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    await session.run("settings", { deadline: Date.now() + 1 });
    expect(await session.ended()).toMatchObject({ type: "turn.interrupted" });
    expect(await session.send("more")).toMatchObject({ problem: { limit: "deadline" } });
  });
});

describe("agent modes", () => {
  const developerTexts = (input: readonly object[]): string =>
    JSON.stringify(input.filter((item) => "role" in item && item.role === "developer"));

  test("plan uses Codex's plan mode, and build leaves it", async () => {
    const seen: string[] = [];
    await using stage = await startRunner((request) => {
      seen.push(developerTexts(request.input));
      return say("received");
    });
    const session = await stage.create({ agentMode: "plan" });
    await session.send("one");
    await session.ended();
    await session.run("settings", { agentMode: "build" });
    const second = await session.send("two");
    await session.ended(second.ok ? second["turnId"] : undefined);
    expect(seen[0]).toMatch(/plan mode/i);
    expect(seen[1]?.length).toBeGreaterThan(seen[0]?.length ?? 0);
  });

  test("plan allows no writes, also in bypass, until build", async () => {
    await using stage = await startRunner((request) =>
      request.newOutputs.length > 0 ? say("end") : run(`touch ${request.lastUserText}`),
    );
    const session = await stage.create({ agentMode: "plan", permissionMode: "bypass" });
    await session.send("planned");
    await session.ended();
    expect(existsSync(join(stage.workspace, "planned"))).toBe(false);
    await session.run("settings", { agentMode: "build" });
    const second = await session.send("built");
    await session.ended(second.ok ? second["turnId"] : undefined);
    expect(existsSync(join(stage.workspace, "built"))).toBe(true);
  });

  test("chat instructs the model and allows no writes", async () => {
    const seen: string[] = [];
    await using stage = await startRunner((request) => {
      seen.push(developerTexts(request.input));
      const done = request.commandResult("w");
      return done ? say(`exit ${done.exitCode}`) : run("touch f", { callId: "w", escalate: "please" });
    });
    const session = await stage.create({ agentMode: "chat" });
    await session.send("one");
    await session.ended();
    expect(seen[0]).toContain("chat mode");
    expect(existsSync(join(stage.workspace, "f"))).toBe(false);
    expect((await session.events()).some(({ type }) => type === "inbox.opened")).toBe(false);
  });
});

describe("agents", () => {
  test("belong to the session of their root, with their events and approvals", async () => {
    await using stage = await startRunner(escalatingAgent);
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    await acceptAgentCommand(session, stage.workspace);
  });
});

describe("other commands", () => {
  test("rename, archive and unarchive change the session", async () => {
    await using stage = await startRunner(echo);
    const session = await stage.create();
    await session.run("rename", { name: "new name" });
    await session.run("archive", {});
    expect(await session.row()).toMatchObject({
      name: "new name",
      archived_at: expect.any(Number) as number,
    });
    await session.run("unarchive", {});
    expect(await session.row()).toMatchObject({ archived_at: null });
  });

  test("settings apply to the next turn", async () => {
    const model: ScriptFunction = (request) =>
      request.commandResult("w")
        ? say(`exit ${request.commandResult("w")?.exitCode}`)
        : run("touch f", { callId: "w" });
    await using stage = await startRunner(model);
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    await session.ended();
    expect(existsSync(join(stage.workspace, "f"))).toBe(false);
    expect(await session.run("settings", { permissionMode: "workspace-write", effort: "low" })).toMatchObject(
      {
        ok: true,
      },
    );
    const second = await session.send("again");
    await session.ended(second.ok ? second["turnId"] : undefined);
    expect(JSON.parse((await session.row()).settings)).toMatchObject({ permissionMode: "workspace-write" });
    expect(existsSync(join(stage.workspace, "f"))).toBe(false);
  });

  test("fork copies the history into another session, and revert removes turns", async () => {
    await using stage = await startRunner(echo);
    const session = await stage.create();
    const first = await session.send("one");
    await session.ended();
    const second = await session.send("two");
    await session.ended(second.ok ? second["turnId"] : undefined);
    const forked = await session.run("fork", {
      name: "copy",
      ...(first.ok ? { lastTurnId: String(first["turnId"]) } : {}),
    });
    expect(forked).toMatchObject({ ok: true, sessionId: expect.any(String) as string });
    const copy = new TestSession(String(forked.ok && forked["sessionId"]), stage.database);
    await copy.event((event) => event.type === "item.completed" && event.recovered === true);
    const third = await copy.send("three");
    await copy.ended(third.ok ? third["turnId"] : undefined);
    expect(userTexts(await copy.events())).toEqual(["one", "three"]);
    expect(await copy.row()).toMatchObject({ name: "copy" });

    const beforeTurnId = String(second.ok && second["turnId"]);
    expect(await session.run("revert", { beforeTurnId })).toMatchObject({ ok: true });
    const { journal } = stage.database;
    expect((await journal.turns(session.id)).rows.map(({ title }) => title)).toEqual(["one"]);
    expect((await journal.items(session.id)).map(({ kind }) => kind)).toEqual([
      "agentMessage",
      "userMessage",
    ]);
    expect(await session.run("revert", { beforeTurnId })).toMatchObject({ ok: false });
  });

  test("compact and review run as turns", async () => {
    await using stage = await startRunner(echo);
    await writeFile(join(stage.workspace, "a.txt"), "a");
    const session = await stage.create();
    await session.send("one");
    await session.ended();
    const compacted = await session.run("compact", {});
    expect(compacted).toMatchObject({ ok: true });
    await session.ended(compacted.ok ? compacted["turnId"] : undefined);
    const reviewed = await session.run("review", { target: { type: "custom", instructions: "look" } });
    expect(reviewed).toMatchObject({ ok: true });
    await session.ended(reviewed.ok ? reviewed["turnId"] : undefined);
  });

  test("shell runs a command of the user", async () => {
    await using stage = await startRunner(echo);
    const session = await stage.create({ permissionMode: "read-only" });
    const shell = await session.run("shell", { command: "touch by-hand" });
    expect(shell).toMatchObject({ ok: true });
    await session.ended();
    expect(existsSync(join(stage.workspace, "by-hand"))).toBe(true);
  });

  test("goal is stored and set in Codex", async () => {
    await using stage = await startRunner(echo);
    const session = await stage.create();
    await session.send("hello");
    await session.ended();
    expect(await session.run("goal", { goal: { objective: "win" } })).toMatchObject({ ok: true });
    expect(JSON.parse((await session.row()).goal ?? "null")).toEqual({ objective: "win" });
    expect(await session.run("goal", { goal: null })).toMatchObject({ ok: true });
    expect((await session.row()).goal).toBeNull();
  });

  test("delete ends a running turn and removes the thread", async () => {
    await using stage = await startRunner(holding(gate()));
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    await session.submit("message", { input: "never", mode: "queue" });
    await session.submit("delete", {});
    await session.event(({ type }) => type === "session.deleted");
    expect(await session.row()).toMatchObject({ phase: "deleted" });
  });
});
