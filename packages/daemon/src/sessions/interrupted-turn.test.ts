import { tmpdir } from "node:os";
import { gate, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, test } from "vitest";
import { ownedSession, SETTINGS, useDatabases } from "../../test/database-fixture.ts";
import { textsOf } from "../../test/killed-runner.ts";
import { startRunner, type TestRunner, type TestSession } from "../../test/start-runner.ts";
import type { SessionEvent } from "../api/event.ts";
import { createProblem } from "../api/problem.ts";
import type { PendingCommand } from "../commands/command-store.ts";
import type { Database } from "../database.ts";
import { createRunner } from "./create-runner.ts";
import { InterruptedTurn } from "./interrupted-turn.ts";
import { parseState } from "./session-state.ts";

const isDelta = ({ type }: SessionEvent): boolean => type === "item.delta";

/** Delays every turn whose message is "hold". All other turns, such as a continuation, end immediately. */
const script: ScriptFunction = ({ lastUserText }) =>
  lastUserText === "hold" ? say(["half ", waitFor(gate()), "done"]) : say("went on");

function continuations(events: readonly SessionEvent[]): number {
  return textsOf(events, "userMessage").filter((text) => text.includes("was cut off")).length;
}

function kill({ runner }: TestRunner): void {
  process.kill(runner.status.appServers[0]?.pid ?? 0, "SIGKILL");
}

/** Drops the events of all sessions instead of storing them. */
function dropEvents({ journal }: Database): {
  readonly until: (type: SessionEvent["type"]) => Promise<void>;
  readonly stop: () => void;
} {
  const enqueue = journal.enqueue.bind(journal);
  const dropped = new Set<string>();
  journal.enqueue = (_owner, events) => {
    for (const { type } of events) dropped.add(type);
  };
  return {
    until: async (type) => {
      await expect.poll(() => dropped.has(type)).toBe(true);
    },
    stop: () => {
      journal.enqueue = enqueue;
    },
  };
}

describe.each(STORE_KINDS)("a turn that is cut off, on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = async (model: ScriptFunction = script): Promise<TestRunner> =>
    startRunner(model, {
      location: await databases.location(),
      limits: { retryMs: 50, claimMs: 50, interruptMs: 2_000 },
    });

  async function hold(stage: TestRunner, onInterrupted: "continue" | "ask" | "stop"): Promise<TestSession> {
    const session = await stage.create({ onInterrupted });
    await session.send("hold");
    await session.event(isDelta);
    return session;
  }

  /** Starts a turn whose events are dropped, so that not even its start is stored. */
  async function holdUnstored(stage: TestRunner) {
    const session = await stage.create({ onInterrupted: "continue" });
    await session.send("first");
    await session.ended();
    const dropping = dropEvents(stage.database);
    await session.submit("message", { input: "hold", mode: "queue" });
    await dropping.until("item.delta");
    return { session, dropping };
  }

  const wentOn = (session: TestSession) =>
    session.event((event) => textsOf([event], "agentMessage").includes("went on"));

  test("is continued once, before waiting messages, after its process has died", async () => {
    await using stage = await start();
    const session = await hold(stage, "continue");
    const later = await session.submit("message", { input: "later", mode: "queue" });
    kill(stage);
    await session.result(later);
    await session.event((event) => textsOf([event], "userMessage").includes("later"));
    const texts = textsOf(await session.events(), "userMessage");
    expect(texts).toEqual(["hold", expect.stringContaining("was cut off"), "later"]);
    expect((await session.row()).interrupted_turn_id).toBeNull();
  });

  test("is continued if its process died before the daemon had stored its start", async () => {
    await using stage = await start();
    const { session, dropping } = await holdUnstored(stage);
    dropping.stop();
    kill(stage);
    await session.event((event) =>
      textsOf([event], "userMessage").some((text) => text.includes("was cut off")),
    );
    await expect.poll(async () => (await session.row()).interrupted_turn_id).toBeNull();
    expect(continuations(await session.events())).toBe(1);
  });

  test("is not continued if a person interrupted it before the daemon had stored its start", async () => {
    await using stage = await start();
    const { session, dropping } = await holdUnstored(stage);
    await session.run("interrupt", {});
    await dropping.until("turn.interrupted");
    dropping.stop();
    kill(stage);
    await session.send("more");
    await session.event((event) => textsOf([event], "userMessage").includes("more"));
    expect(continuations(await session.events())).toBe(0);
  });

  test("is continued by the next boot when the daemon was shut down during the turn", async () => {
    await using stage = await start();
    const session = await hold(stage, "continue");
    await stage.runner.drain(0);
    expect(await session.row()).toMatchObject({ node_id: null, ready_at: expect.any(Number) as number });
    await using next = createRunner(stage.options);
    await next.start();
    await wentOn(session);
    expect(continuations(await session.events())).toBe(1);
  });

  test("asks once, needs no owner while it waits, and is continued on another node if a person chooses so", async () => {
    await using stage = await start();
    const session = await hold(stage, "ask");
    await stage.runner.drain(0);
    await using next = createRunner(stage.options);
    await next.start();
    await session.event(({ type }) => type === "inbox.opened");
    await next.drain(0);
    expect(await session.row()).toMatchObject({ phase: "parked", node_id: null, ready_at: null });
    await using last = createRunner(stage.options);
    await last.start();
    const { rows } = await stage.database.inbox.list({ sessionId: session.id, state: "parked" });
    expect(rows).toHaveLength(1);
    await session.answer(rows[0], { type: "answers", answers: { continue: "Continue" } });
    await wentOn(session);
    const events = await session.events();
    expect(continuations(events)).toBe(1);
    expect(events.filter(({ type }) => type === "inbox.opened")).toHaveLength(1);
    const [entry] = (await stage.database.inbox.list({ sessionId: session.id })).rows;
    expect(entry?.state).toBe("delivered");
  });

  test("is not continued if a person chooses so, or sends a message instead", async () => {
    await using stage = await start();
    const session = await hold(stage, "ask");
    kill(stage);
    await session.event(({ type }) => type === "inbox.opened");
    const [first] = (await stage.database.inbox.list({ sessionId: session.id, state: "parked" })).rows;
    await session.answer(first, { type: "answers", answers: { continue: "Stop" } });
    await expect.poll(async () => (await session.row()).interrupted_turn_id).toBeNull();
    const { last_seq: after } = await session.row();
    await session.send("hold");
    await session.event(isDelta, after);
    kill(stage);
    await session.event(({ type }) => type === "inbox.opened", after);
    await session.send("instead");
    await session.event(({ type }) => type === "inbox.withdrawn", after);
    await wentOn(session);
    expect(continuations(await session.events())).toBe(0);
    expect((await session.row()).phase).not.toBe("parked");
  });

  test("has no consequences by default, or if a person interrupted it", async () => {
    await using stage = await start();
    const session = await hold(stage, "stop");
    kill(stage);
    await session.ended();
    expect((await session.row()).interrupted_turn_id).toBeNull();
    const second = await hold(stage, "continue");
    expect(await second.run("interrupt", {})).toMatchObject({ interrupted: true });
    await second.ended();
    await second.send("next");
    await wentOn(second);
    expect(continuations(await second.events())).toBe(0);
  });

  test("is not continued indefinitely if nothing is completed", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database, { settings: { ...SETTINGS, onInterrupted: "continue" } });
    const { sessionId } = owner;
    const state = parseState(await database.sessions.require(sessionId));
    const interrupted = new InterruptedTurn({
      database,
      owner,
      state,
      thread: () => undefined,
      codexHome: tmpdir(),
    });
    /** Cuts off a turn, with or without a completed item. Resolves to the command that continues it, if there is one. */
    const cutOff = async (turnId: string, isDone: boolean): Promise<PendingCommand | undefined> => {
      const ids = { threadId: "thread", turnId };
      const item = {
        type: "agentMessage" as const,
        id: `item of ${turnId}`,
        text: "done",
        phase: null,
        memoryCitation: null,
        delivery: null,
        questions: null,
      };
      await database.journal.append(owner, [
        { type: "turn.started", ...ids },
        ...(isDone ? [{ type: "item.completed" as const, ...ids, item }] : []),
        { type: "turn.failed", ...ids, result: {} as never, problem: createProblem("codex_failed", "lost") },
      ]);
      await database.sessions.update(owner, { interruptedTurnId: turnId });
      state.interruptedTurnId = turnId;
      // As if the owner had died before it cleared `interruptedTurnId`, so that the next owner reacts again.
      await interrupted.react();
      state.interruptedTurnId = turnId;
      await interrupted.react();
      expect((await database.sessions.require(sessionId)).interrupted_turn_id).toBeNull();
      const [command, ...more] = await database.commands.pending(sessionId);
      expect(more).toEqual([]);
      return command;
    };
    const continueWith = async (command: PendingCommand | undefined, turnId: string): Promise<void> => {
      if (!command) throw new Error("The turn was not continued.");
      await database.commands.finish(owner, command.id, { ok: true, turnId });
    };
    await continueWith(await cutOff("t1", false), "t2");
    await continueWith(await cutOff("t2", false), "t3");
    await continueWith(await cutOff("t3", true), "t4");
    await continueWith(await cutOff("t4", false), "t5");
    await continueWith(await cutOff("t5", false), "t6");
    expect(await cutOff("t6", false)).toBeUndefined();
    expect((await database.sessions.require(sessionId)).problem).toContain("continued_too_often");
  });
});
