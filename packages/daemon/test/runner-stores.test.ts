// Behaviour of the runner that depends on the store, on both stores: claims, the order of commands, hints, and recovery.
import { gate, run, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { STORE_KINDS } from "@codexkit/store/testing";
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../src/api/event.ts";
import { FLEET_LIMITS } from "../src/fleet/limits.ts";
import { createRunner } from "../src/sessions/create-runner.ts";
import { exportSession } from "../src/transfer/export-session.ts";
import { sessionFileLine } from "../src/transfer/session-file.ts";
import { assertGapless, useDatabases } from "./database-fixture.ts";
import { textsOf } from "./killed-runner.ts";
import { startRunner, type TestRunnerOptions, TestSession } from "./start-runner.ts";

const isDelta = ({ type }: SessionEvent): boolean => type === "item.delta";
const isCompleted = ({ type }: SessionEvent): boolean => type === "turn.completed";

/** Delays every turn whose message starts with "hold" until the gate opens. */
function holding(open: ReturnType<typeof gate>): ScriptFunction {
  return ({ lastUserText }) =>
    lastUserText.startsWith("hold")
      ? say(["half ", waitFor(open), "done"])
      : say(`received: ${lastUserText}`);
}

describe.each(STORE_KINDS)("a runner on %s", (kind) => {
  const databases = useDatabases(kind);
  const start = async (script: ScriptFunction, options: TestRunnerOptions = {}) =>
    startRunner(script, { location: await databases.location(), ...options });

  test("executes messages in order, each once, and stores every event", async () => {
    const open = gate();
    await using stage = await start(holding(open));
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    // Sent one after the other, because concurrent commands may be stored in any order.
    const ids: string[] = [];
    for (const input of ["first", "second", "first"]) {
      ids.push(await session.submit("message", { input, mode: "queue" }, `key of ${input}`));
    }
    expect(new Set(ids).size).toBe(2);
    open.open();
    for (const id of ids) await session.result(id);
    await session.event((event) => textsOf([event])[0] === "received: second");
    const events = await session.events();
    assertGapless(events);
    const received = textsOf(events).filter((text) => text.startsWith("received"));
    expect(received).toEqual(["received: first", "received: second"]);
  });

  test("stores the calls of a model that chooses unusual IDs, and exports them", async () => {
    const long = Array.from({ length: 100 }, (_, index) =>
      createHash("sha256").update(`${index}`).digest("hex"),
    );
    const callIds = [long.join(""), "a b\u0000\n", ""];
    await using stage = await start(({ lastUserText, newOutputs }) =>
      newOutputs.length > 0 ? say("end") : run("echo ran", { callId: callIds[Number(lastUserText)] ?? "" }),
    );
    const session = await stage.create();
    for (const input of callIds.keys()) {
      const sent = await session.send(`${input}`);
      await session.ended(sent.ok ? sent["turnId"] : undefined);
    }
    const events = await session.events();
    const commands = events.flatMap((event) =>
      event.type === "item.completed" && event.item.type === "commandExecution" ? [event.item] : [],
    );
    expect(commands.map(({ aggregatedOutput }) => aggregatedOutput)).toEqual(["ran\n", "ran\n", "ran\n"]);
    const ids = commands.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    const items = await stage.database.journal.items(session.id, { limit: 100 });
    const stored = items.filter(({ kind: itemKind }) => itemKind === "commandExecution");
    expect(stored.map(({ item_id: id, status }) => [id, status]).toReversed()).toEqual(
      ids.map((id) => [id, "completed"]),
    );
    await stage.runner.close();
    for await (const line of await exportSession(stage.database, session.id)) {
      expect(sessionFileLine.safeParse(JSON.parse(line)).success).toBe(true);
    }
  });

  test("receives answers and commands from another process", async () => {
    await using stage = await start((request) =>
      request.commandResult("a") ? say("finished") : run("touch made", { callId: "a", escalate: "why" }),
    );
    // On SQLite, only one process has the store open.
    await using other =
      kind === "postgres" ? await databases.open({ location: stage.database.location }) : undefined;
    const session = await stage.create({ permissionMode: "read-only" });
    const remote = new TestSession(session.id, other ?? stage.database);
    await remote.submit("message", { input: "go", mode: "start" });
    const [approval] = await remote.approval();
    await remote.answer(approval, { type: "decision", offer: "accept" });
    await remote.event(isCompleted);
    expect(existsSync(join(stage.workspace, "made"))).toBe(true);
    expect(await remote.events()).toEqual(await session.events());
  });

  test("continues after its codex was killed in a turn", async () => {
    await using stage = await start(holding(gate()), { limits: { retryMs: 50 } });
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    const next = await session.submit("message", { input: "next", mode: "queue" });
    process.kill(stage.runner.status.appServers[0]?.pid ?? 0, "SIGKILL");
    expect(await session.event(({ type }) => type === "turn.failed")).toMatchObject({ recovered: true });
    expect(await session.result(next)).toMatchObject({ ok: true });
    await session.event(isCompleted);
    assertGapless(await session.events());
    expect(textsOf(await session.events())).toEqual(["hold", "next", "received: next"]);
  });

  test("leaves its sessions and their queue to the next boot", async () => {
    await using stage = await start(holding(gate()));
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    const queued = await session.submit("message", { input: "later", mode: "queue" });
    await stage.runner.drain(0);
    expect(await session.row()).toMatchObject({ node_id: null });
    await using next = createRunner(stage.options);
    await next.start();
    expect(await session.result(queued)).toMatchObject({ ok: true });
    await session.event(isCompleted);
    expect((await session.row()).epoch).toBe(2);
    expect(textsOf(await session.events())).toEqual(["hold", "later", "received: later"]);
  });

  test("removes a deleted session", async () => {
    await using stage = await start(holding(gate()));
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    await session.submit("delete", {});
    await session.event(({ type }) => type === "session.deleted");
    await expect.poll(() => stage.runner.status.sessions).toBe(0);
    expect(await session.row()).toMatchObject({ phase: "deleted", node_id: null });
  });
});

describe("a runner whose Postgres crashes", () => {
  const databases = useDatabases("postgres");

  test("keeps the turn running, and stores all of it afterwards", async () => {
    const open = gate();
    await using stage = await startRunner(holding(open), {
      location: await databases.location(),
      limits: { retryMs: 50, claimMs: 50 },
      fleet: { ...FLEET_LIMITS, renewMs: 50 },
    });
    const session = await stage.create();
    await session.send("hold");
    await session.event(isDelta);
    await databases.locations.postgres.kill();
    open.open();
    await databases.locations.postgres.restart();
    await session.event(isCompleted);
    const events = await session.events();
    assertGapless(events);
    expect(textsOf(events)).toEqual(["hold", "half done"]);
    expect(await session.send("next")).toMatchObject({ ok: true });
    await session.event((event) => textsOf([event])[0] === "received: next");
  });
});

describe("a Postgres that is restarted", () => {
  const databases = useDatabases("postgres");

  test("does not affect a pending approval", async () => {
    const script: ScriptFunction = (request) =>
      request.commandResult("call")
        ? say("finished")
        : run("touch made", { callId: "call", escalate: "why" });
    await using stage = await startRunner(script, { location: await databases.location() });
    const session = await stage.create({ permissionMode: "read-only" });
    await session.send("go");
    const [approval] = await session.approval();
    await databases.locations.postgres.kill();
    await databases.locations.postgres.restart();
    // The runner uses the store again.
    await expect
      .poll(async () =>
        session.row().then(
          ({ phase }) => phase,
          () => undefined,
        ),
      )
      .toBe("waiting");
    await session.answer(approval, { type: "decision", offer: "accept" });
    expect(await session.ended()).toMatchObject({ result: { finalResponse: "finished" } });
    expect(existsSync(join(stage.workspace, "made"))).toBe(true);
    const { rows } = await stage.database.inbox.list({ sessionId: session.id });
    expect(rows.map(({ state }) => state)).toEqual(["delivered"]);
  });
});
