import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, it } from "vitest";
import {
  allEvents,
  claimOne,
  newSession,
  NODE,
  ownedSession,
  useDatabases,
} from "../../test/database-fixture.ts";
import type { Problem } from "../api/problem.ts";
import { notificationKeys } from "../database/notifications.ts";
import { commandResult } from "./command-store.ts";

const PROBLEM: Problem = { type: "turn_running", title: "A turn is running", status: 409, detail: "Wait." };

describe.each(STORE_KINDS)("commands on %s", (kind) => {
  const databases = useDatabases(kind);
  const message = (sessionId: string, key: string, input = "hello") => ({
    sessionId,
    key,
    kind: "message" as const,
    body: { input, mode: "queue" as const },
    by: "tester",
  });

  it("are stored once per key, even if they are sent at the same time", async () => {
    await using database = await databases.open();
    const { sessionId } = await ownedSession(database);
    const sent = await Promise.all(
      Array.from({ length: 10 }, (_, index) => database.commands.submit(message(sessionId, `${index % 2}`))),
    );
    expect(sent.filter(({ isNew }) => isNew)).toHaveLength(2);
    expect(new Set(sent.map(({ command }) => command.id)).size).toBe(2);
    const reused = database.commands.submit(message(sessionId, "1", "something else"));
    await expect(reused).rejects.toMatchObject({
      code: "key_reused",
      details: { commandId: expect.any(String) },
    });
    const accepted = (await allEvents(database, sessionId)).filter(({ type }) => type === "command.accepted");
    expect(accepted).toHaveLength(3);
  });

  it("wake the nodes only if their session has no owner, because an owner polls for its commands", async () => {
    await using database = await databases.open();
    const { notifier } = database.store;
    let wakes = 0;
    using _ready = notifier.subscribe(notificationKeys.ready, (hint) => {
      if (hint !== "poll") wakes += 1;
    });
    const notified = (sessionId: string): Promise<void> =>
      new Promise((resolve) => {
        notifier.subscribe(notificationKeys.commands(sessionId), () => resolve());
      });
    const { sessionId } = await ownedSession(database);
    const own = notified(sessionId);
    wakes = 0;
    await database.commands.submit(message(sessionId, "owned"));
    await own;
    expect(wakes).toBe(0);
    const { session } = await database.sessions.insert(newSession());
    const unowned = notified(session.id);
    await database.commands.submit(message(session.id, "unowned"));
    await unowned;
    expect(wakes).toBeGreaterThan(0);
  });

  it("wait in the order in which they were accepted", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    await Promise.all(
      [1, 2, 3, 4].map((key) => database.commands.submit(message(sessionId, `${key}`, `${key}`))),
    );
    const pending = await database.commands.pending(sessionId);
    const order = (await allEvents(database, sessionId)).flatMap((event) =>
      event.type === "command.accepted" && event.kind === "message" ? [event.commandId] : [],
    );
    expect(pending.map(({ id }) => id)).toEqual(order);
    expect(pending[0]).toMatchObject({ kind: "message", startedEpoch: null, body: { mode: "queue" } });
    const [first] = pending;
    await database.commands.begin(owner, first?.id ?? "");
    expect((await database.commands.pending(sessionId))[0]).toMatchObject({ startedEpoch: owner.epoch });
    await database.commands.finish(owner, first?.id ?? "", { ok: true });
    expect((await database.commands.pending(sessionId)).map(({ id }) => id)).toEqual(order.slice(1));
    expect((await database.commands.unfinished(sessionId)).map(({ id }) => id)).toEqual(order.slice(1));
  });

  it("store their result, events and changes together, once", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { command } = await database.commands.submit(message(owner.sessionId, "1"));
    const broken = database.commands.finish(
      owner,
      command.id,
      { ok: true },
      {
        changes: { name: "half" },
        also: () => Promise.reject(new Error("no")),
      },
    );
    await expect(broken).rejects.toThrow("no");
    expect(await database.sessions.require(owner.sessionId)).toMatchObject({ name: null });
    await database.commands.finish(
      owner,
      command.id,
      { ok: true, turnId: "turn" },
      { changes: { name: "done" } },
    );
    await database.commands.finish(owner, command.id, { ok: false, problem: PROBLEM });
    const row = await database.commands.get(command.id);
    expect(row && commandResult(row)).toEqual({ ok: true, turnId: "turn" });
    expect((await allEvents(database, owner.sessionId)).at(-1)).toMatchObject({
      type: "command.finished",
      commandId: command.id,
      result: { turnId: "turn" },
    });
    expect(await database.sessions.require(owner.sessionId)).toMatchObject({ name: "done" });
  });

  it("can be waited for, in this process or another, with a limit", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { command } = await database.commands.submit(message(owner.sessionId, "1"));
    expect(await database.commands.wait(command.id, { timeoutMs: 1 })).toMatchObject({ finished_at: null });
    const abort = new AbortController();
    const aborted = database.commands.wait(command.id, { timeoutMs: 60_000, signal: abort.signal });
    abort.abort(new Error("gone"));
    await expect(aborted).rejects.toThrow("gone");
    const waiter = kind === "postgres" ? await databases.open({ location: database.location }) : database;
    await using _waiter = waiter === database ? undefined : waiter;
    const waiting = waiter.commands.wait(command.id, { timeoutMs: 60_000 });
    await database.commands.finish(owner, command.id, { ok: false, problem: PROBLEM });
    const row = await waiting;
    expect(commandResult(row)).toEqual({ ok: false, problem: PROBLEM });
    await expect(database.commands.wait("unknown", { timeoutMs: 1 })).rejects.toMatchObject({
      code: "command_not_found",
    });
  });

  it("end their waits when the database is closed", async () => {
    const database = await databases.open();
    const owner = await ownedSession(database);
    const { command } = await database.commands.submit(message(owner.sessionId, "1"));
    const waiting = database.commands.wait(command.id, { timeoutMs: 60_000 });
    const refused = waiting.catch((error: unknown) => error);
    await database.commands.get(command.id);
    await database.close();
    expect(await refused).toMatchObject({ code: "closed" });
  });

  it("can't be begun or finished by a former owner", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { command } = await database.commands.submit(message(owner.sessionId, "1"));
    await claimOne(database, await database.nodes.register(NODE), owner.sessionId);
    await expect(database.commands.begin(owner, command.id)).rejects.toMatchObject({ code: "fenced" });
    await expect(database.commands.finish(owner, command.id, { ok: true })).rejects.toMatchObject({
      code: "fenced",
    });
    expect(await database.commands.get(command.id)).toMatchObject({ started_epoch: null, finished_at: null });
  });

  it("are refused for unknown and deleted sessions, but a repeated delete is answered", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    await expect(database.commands.submit(message("unknown", "1"))).rejects.toMatchObject({
      code: "session_not_found",
    });
    const remove = { sessionId: owner.sessionId, key: "d", kind: "delete" as const, body: {}, by: "tester" };
    const { command } = await database.commands.submit(remove);
    await database.commands.finish(
      owner,
      command.id,
      { ok: true },
      {
        changes: { phase: "deleted" },
        events: [{ type: "session.deleted" }],
      },
    );
    await expect(database.commands.submit(message(owner.sessionId, "1"))).rejects.toMatchObject({
      code: "session_deleted",
    });
    expect(await database.commands.submit(remove)).toMatchObject({
      isNew: false,
      command: { id: command.id },
    });
  });
});
