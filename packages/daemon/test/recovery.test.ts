import { gate, run, say, type ScriptFunction, usage, waitFor } from "@codexkit/scripted-model";
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm } from "node:fs/promises";
import { StoreError } from "@codexkit/store";
import { tempFolder } from "@codexkit/testing";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { textsOf } from "./killed-runner.ts";
import { pollUntil } from "./poll-until.ts";
import { claimOne, NODE } from "./database-fixture.ts";
import { startRunner, type TestRunner } from "./start-runner.ts";
import { FLEET_LIMITS } from "../src/fleet/limits.ts";
import { createRunner } from "../src/sessions/create-runner.ts";
import type { SessionEvent } from "../src/api/event.ts";

const isDelta = ({ type }: SessionEvent): boolean => type === "item.delta";

function pidOf({ runner }: TestRunner): number {
  return runner.status.appServers[0]?.pid ?? 0;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

describe("a codex that dies", () => {
  test("fails its turn, abandons running items, and the session continues", async () => {
    const model: ScriptFunction = ({ lastUserText }) =>
      lastUserText === "hold" ? say(["half ", waitFor(gate())]) : say(`received: ${lastUserText}`);
    await using stage = await startRunner(model, { limits: { retryMs: 50 } });
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    const queued = await session.submit("message", { input: "next", mode: "queue" });
    process.kill(pidOf(stage), "SIGKILL");
    const end = await session.event(({ type }) => type === "turn.failed");
    expect(end).toMatchObject({ recovered: true, problem: { type: "codex_failed" } });
    const events = await session.events();
    expect(events.find(({ type }) => type === "item.abandoned")).toMatchObject({ itemId: "msg_1" });
    expect(await session.result(queued)).toMatchObject({ ok: true });
    await session.event(({ type }) => type === "turn.completed");
    expect(textsOf(await session.events())).toEqual(["hold", "next", "received: next"]);
    expect(await session.row()).toMatchObject({ phase: "idle", active_turn_id: null });
  });

  test("before it has written anything of a turn fails the turn", async () => {
    await using stage = await startRunner(({ lastUserText }) => say(lastUserText), {
      limits: { retryMs: 50 },
    });
    const session = await stage.create();
    await session.send("one");
    await session.ended();
    await stage.runner.close();
    const turnId = randomUUID();
    await stage.database.store.db
      .updateTable("session")
      .set({ active_turn_id: turnId, phase: "running", ready_at: 1 })
      .where("id", "=", session.id)
      .execute();
    await using next = createRunner(stage.options);
    await next.start();
    const { type } = await session.ended(turnId);
    expect(type).toBe("turn.failed");
    await pollUntil(async () => (await session.row()).phase === "idle");
    const second = await session.send("two");
    expect(await session.ended(second.ok ? second["turnId"] : undefined)).toMatchObject({
      result: { finalResponse: "two" },
    });
  });

  test("while idle is replaced on demand", async () => {
    await using stage = await startRunner(({ lastUserText }) => say(lastUserText), {
      limits: { retryMs: 50 },
    });
    const session = await stage.create();
    await session.send("one");
    await session.ended();
    process.kill(pidOf(stage), "SIGKILL");
    const second = await session.send("two");
    await session.ended(second.ok ? second["turnId"] : undefined);
    expect(textsOf(await session.events())).toEqual(["one", "one", "two", "two"]);
  });
});

test("a thread that was lost before it was stored is replaced, and its message is sent once", async () => {
  await using stage = await startRunner(({ lastUserText }) => say(`received: ${lastUserText}`), {
    limits: { retryMs: 50 },
  });
  const { database, runner } = stage;
  const session = await stage.create();
  await session.event(({ type }) => type === "session.updated");
  await runner.close();
  const { thread_id: threadId } = await session.row();
  const sent = await session.submit("message", { input: "one", mode: "queue" });
  // The stored state of a node that died while it was sending the first message.
  const nodeId = await database.nodes.register({ ...NODE, name: "other" });
  const owner = await claimOne(database, nodeId, session.id, "other");
  await database.commands.begin(owner, sent);
  await database.journal.append(owner, [{ type: "turn.started", threadId: threadId ?? "", turnId: "lost" }]);
  await database.nodes.retire(nodeId);
  await using next = createRunner(stage.options);
  await next.start();
  expect(await session.result(sent)).toMatchObject({ ok: true });
  await session.event(({ type }) => type === "turn.completed");
  const events = await session.events();
  expect(events.find(({ type }) => type === "turn.failed")).toMatchObject({
    turnId: "lost",
    recovered: true,
  });
  expect(textsOf(events)).toEqual(["one", "received: one"]);
  expect(await session.row()).toMatchObject({ phase: "idle", active_turn_id: null });
});

test("events that the store refused for too long are added from the history, and reported", async () => {
  await using stage = await startRunner(() => say("hello"), { limits: { retryMs: 50 } });
  const { journal } = stage.database;
  const enqueue = journal.enqueue.bind(journal);
  journal.enqueue = (owner, events, options) => {
    const isLost = events.some(
      (event) => event.type === "item.completed" && event.item.type === "agentMessage",
    );
    if (!isLost) return enqueue(owner, events, options);
    journal.enqueue = enqueue;
    return options.onError(new StoreError("store_unavailable", "Postgres is not available."));
  };
  const session = await stage.create();
  expect(await session.send("hi")).toMatchObject({ ok: true });
  await session.event(({ type }) => type === "recovered");
  await session.event(({ type }) => type === "turn.completed");
  const events = await session.events();
  expect(textsOf(events)).toEqual(["hi", "hello"]);
  expect(events.filter(({ type }) => type === "turn.completed")).toHaveLength(1);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "warning", message: expect.stringContaining("could not be stored") }),
  );
  expect(await session.row()).toMatchObject({ phase: "idle", active_turn_id: null });
});

describe("a codex that is frozen", () => {
  test("is not killed if it is continued in time", async () => {
    const open = gate();
    await using stage = await startRunner([say(["half ", waitFor(open), "done"])], {
      limits: { healthCheckMs: 50 },
    });
    const session = await stage.create();
    await session.send("go");
    await session.event(isDelta);
    const pid = pidOf(stage);
    process.kill(pid, "SIGSTOP");
    await pollUntil(() => stage.runner.status.appServers[0]?.state === "not_responding");
    process.kill(pid, "SIGCONT");
    open.open();
    expect(await session.ended()).toMatchObject({ type: "turn.completed" });
    expect(pidOf(stage)).toBe(pid);
  });

  test("is killed if it does not respond for too long", async () => {
    const model: ScriptFunction = ({ lastUserText }) =>
      lastUserText === "hold" ? say(["half ", waitFor(gate())]) : say("received");
    await using stage = await startRunner(model, {
      // Longer than codex may need for a response on a busy machine. Otherwise, it could be killed before the test stops it.
      limits: { healthCheckMs: 50, notRespondingMs: 2_000, retryMs: 50 },
    });
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    process.kill(pidOf(stage), "SIGSTOP");
    expect(await session.ended()).toMatchObject({ type: "turn.failed" });
    expect(await session.send("next")).toMatchObject({ ok: true });
  });
});

describe("a node whose lease has ended", () => {
  test("claims its sessions again, and their turns continue", async () => {
    const open = gate();
    await using stage = await startRunner([say(["half ", waitFor(open), "done"])], {
      limits: { claimMs: 50 },
      fleet: { ...FLEET_LIMITS, renewMs: 50 },
    });
    const session = await stage.create();
    await session.send("go");
    await session.event(isDelta);
    const { nodeId } = stage.runner.status;
    await stage.database.nodes.retire(nodeId ?? "");
    await pollUntil(() => stage.runner.status.nodeId !== nodeId);
    await pollUntil(() => stage.runner.status.runningTurns === 1);
    open.open();
    expect(await session.ended()).toMatchObject({ type: "turn.completed" });
    const events = await session.events();
    expect(textsOf(events)).toEqual(["go", "half done"]);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect((await session.row()).epoch).toBe(2);
  });
});

describe("draining", () => {
  test("waits for a running turn", async () => {
    const open = gate();
    await using stage = await startRunner([say(["half ", waitFor(open), "done"])]);
    const session = await stage.create();
    await session.send("go");
    await session.event(isDelta);
    const pid = pidOf(stage);
    const drained = stage.runner.drain(20_000);
    const late = await session.submit("message", { input: "late", mode: "queue" });
    open.open();
    await drained;
    expect((await session.events()).findLast(({ type }) => type.startsWith("turn."))).toMatchObject({
      type: "turn.completed",
    });
    expect((await stage.database.commands.get(late))?.finished_at).toBeNull();
    expect(isRunning(pid)).toBe(false);
    expect(await session.row()).toMatchObject({ node_id: null });
  });

  test("interrupts a turn that does not end in time", async () => {
    await using stage = await startRunner([say(["half ", waitFor(gate())])]);
    const session = await stage.create();
    await session.send("go");
    await session.event(isDelta);
    const pid = pidOf(stage);
    await stage.runner.drain(50);
    const events = await session.events();
    expect(events.find(({ type }) => type === "turn.interrupted")).toBeDefined();
    expect(isRunning(pid)).toBe(false);
    expect(stage.runner.status).toMatchObject({ state: "closed", sessions: 0 });
  });

  test("stops waiting for turns when it is repeated with 0", async () => {
    await using stage = await startRunner([say(["half ", waitFor(gate())])]);
    const session = await stage.create();
    await session.send("go");
    await session.event(isDelta);
    const drained = stage.runner.drain(1_000_000);
    await stage.runner.drain(0);
    await drained;
    const events = await session.events();
    expect(events.find(({ type }) => type === "turn.interrupted")).toBeDefined();
  });

  test("ends a codex that does not respond", async () => {
    await using stage = await startRunner([say(["half ", waitFor(gate())])], {
      limits: { interruptMs: 200 },
    });
    const session = await stage.create();
    await session.send("go");
    await session.event(isDelta);
    const pid = pidOf(stage);
    process.kill(pid, "SIGSTOP");
    await stage.runner.drain(10);
    expect(isRunning(pid)).toBe(false);
    expect(stage.runner.status).toMatchObject({ state: "closed", sessions: 0 });
    expect(await session.row()).toMatchObject({ node_id: null });
  });

  test("leaves queued messages to the next boot", async () => {
    const open = gate();
    const model: ScriptFunction = ({ lastUserText }) =>
      lastUserText === "hold" ? say(["half ", waitFor(open)]) : say(`received: ${lastUserText}`);
    await using stage = await startRunner(model);
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    const queued = await session.submit("message", { input: "later", mode: "queue" });
    await stage.runner.drain(0);
    await using next = createRunner(stage.options);
    await next.start();
    expect(await session.result(queued)).toMatchObject({ ok: true });
    await session.event(({ type }) => type === "turn.completed");
    expect(textsOf(await session.events())).toEqual(["hold", "later", "received: later"]);
  });
});

describe("a thread that can't be loaded", () => {
  test("fails its commands instead of delaying them, and is recovered when it can be loaded again", async () => {
    await using folder = await tempFolder("moved");
    const cwd = join(folder.path, "project");
    await mkdir(cwd);
    const model: ScriptFunction = ({ lastUserText }) =>
      lastUserText === "hold" ? say(["half ", waitFor(gate())]) : say("received");
    await using stage = await startRunner(model, { limits: { retryMs: 10, loadAttempts: 2 } });
    const session = await stage.create({ cwd });
    await session.send("hold");
    await session.event(isDelta);
    await rm(cwd, { recursive: true });
    process.kill(pidOf(stage), "SIGKILL");
    expect(await session.send("next")).toMatchObject({ problem: { type: "unprocessable" } });
    expect(await session.row()).toMatchObject({ phase: "failed", problem: expect.any(String) as string });
    await mkdir(cwd);
    expect(await session.send("again")).toMatchObject({ ok: true });
    await session.event(({ type }) => type === "turn.completed");
    expect((await session.events()).filter(({ type }) => type === "turn.failed")).toHaveLength(1);
  });
});

describe("processes", () => {
  test("a dedicated session has its own app-server, which ends with it", async () => {
    await using stage = await startRunner(({ lastUserText }) => say(lastUserText));
    const shared = await stage.create();
    const dedicated = await stage.create({ dedicated: true });
    await Promise.all([shared.send("a"), dedicated.send("b")]);
    await Promise.all([shared.ended(), dedicated.ended()]);
    const servers = stage.runner.status.appServers;
    expect(new Set(servers.map(({ sessionId }) => sessionId))).toEqual(new Set([dedicated.id, null]));
    const own = servers.find(({ sessionId }) => sessionId === dedicated.id)?.pid ?? 0;
    await dedicated.submit("delete", {});
    await dedicated.event(({ type }) => type === "session.deleted");
    await pollUntil(() => !isRunning(own));
    expect(stage.runner.status.appServers).toHaveLength(1);
  });

  test("an app-server that is being launched when the daemon closes is ended", async () => {
    const limits = { interruptMs: 20 };
    await using stage = await startRunner(({ lastUserText }) => say(lastUserText), { limits });
    const { appServers } = stage.database;
    const put = appServers.put.bind(appServers);
    const isLaunching = Promise.withResolvers<number | null>();
    const isClosing = Promise.withResolvers<void>();
    appServers.put = async (server) => {
      isLaunching.resolve(server.pid);
      await isClosing.promise;
      await put(server);
    };
    const session = await stage.create({ dedicated: true });
    await session.submit("message", { input: "a", mode: "queue" });
    const pid = (await isLaunching.promise) ?? 0;
    const closed = stage.runner.close();
    // Closing no longer waits for the session.
    await pollUntil(() => stage.log.some(({ message }) => message.startsWith("Draining continues")));
    isClosing.resolve();
    await closed;
    expect(isRunning(pid)).toBe(false);
    expect(await appServers.list("local")).toEqual([]);
  });

  test("an app-server without sessions is ended", async () => {
    await using stage = await startRunner(({ lastUserText }) => say(lastUserText), {
      limits: { sessionIdleMs: 50, appServerIdleMs: 50 },
    });
    const session = await stage.create();
    await session.send("a");
    await session.ended();
    await pollUntil(() => stage.runner.status.appServers.length === 0);
    const second = await session.send("b");
    await session.ended(second.ok ? second["turnId"] : undefined);
    expect(textsOf(await session.events())).toEqual(["a", "a", "b", "b"]);
  });

  test("sessions that are deleted while they run leave no process", async () => {
    const model: ScriptFunction = ({ newOutputs }) =>
      newOutputs.length > 0 ? say("end") : run("echo $$ > pid-$$; exec sleep 600");
    await using stage = await startRunner(model);
    // Without a sandbox, so that the IDs of the processes are those of this machine.
    const sessions = await Promise.all(
      Array.from({ length: 100 }, () => stage.create({ permissionMode: "bypass" })),
    );
    await Promise.all(sessions.map((session) => session.submit("message", { input: "go", mode: "queue" })));
    const pids = async (): Promise<number[]> =>
      (await readdir(stage.workspace)).flatMap((name) =>
        name.startsWith("pid-") ? [Number(name.slice(4))] : [],
      );
    await expect.poll(async () => (await pids()).length, { timeout: 60_000, interval: 100 }).toBe(100);
    await Promise.all(sessions.map((session) => session.submit("delete", {})));
    await expect.poll(() => stage.runner.status.sessions, { timeout: 60_000, interval: 100 }).toBe(0);
    const started = await pids();
    await expect.poll(() => started.filter(isRunning), { timeout: 20_000, interval: 100 }).toEqual([]);
    const phases = await Promise.all(sessions.map(async (session) => (await session.row()).phase));
    expect(new Set(phases)).toEqual(new Set(["deleted"]));
  }, 180_000);

  test("rollout files are stored with the events", async () => {
    await using stage = await startRunner(({ lastUserText }) => [
      say(lastUserText),
      usage({ input: 1, output: 1 }),
    ]);
    const session = await stage.create();
    await session.send("remember this");
    await session.ended();
    const [file] = await stage.database.rollouts.lineage(session.id);
    expect(file).toMatchObject({ role: "main", path: expect.stringMatching(/^sessions\//) as string });
    const bytes = await stage.database.rollouts.read(file?.id ?? "");
    const text = Buffer.from(bytes ?? []).toString();
    expect(text).toContain("remember this");
    expect(text.trimEnd().split("\n").at(-1)).toContain("task_complete");
    expect(existsSync(join(stage.stateFolder, "codex", file?.path ?? ""))).toBe(true);
  });
});

describe("a Codex home that was lost", () => {
  test("is restored from the stored rollout files", async () => {
    await using stage = await startRunner((request) => [
      say(`turns: ${JSON.stringify(request.input).includes("remember this")}`),
      usage({ input: 1, output: 1 }),
    ]);
    const session = await stage.create();
    await session.send("remember this");
    await session.ended();
    await stage.runner.close();
    const home = join(stage.stateFolder, "codex");
    for (const name of await readdir(home)) {
      if (name !== "config.toml") await rm(join(home, name), { recursive: true });
    }
    await using next = createRunner(stage.options);
    await next.start();
    const second = await session.send("and now");
    expect(await session.ended(second.ok ? second["turnId"] : undefined)).toMatchObject({
      result: { finalResponse: "turns: true" },
    });
  });
});

/** Waits for a condition about which there is no event. */
