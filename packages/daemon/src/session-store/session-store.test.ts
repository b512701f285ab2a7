import { STORE_KINDS } from "@codexkit/store/testing";
import { describe, expect, it } from "vitest";
import {
  allEvents,
  claimOne,
  newSession,
  NODE,
  ownedSession,
  SETTINGS,
  useDatabases,
  warning,
} from "../../test/database-fixture.ts";
import { compareVersions } from "./placement.ts";
import type { Database } from "../database.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { SessionRow } from "../database/tables.ts";

const CLAIM = { name: NODE.name, limit: 10, labels: [], codexVersion: NODE.codexVersion };

describe.each(STORE_KINDS)("sessions on %s", (kind) => {
  const databases = useDatabases(kind);

  it("are created with their command and first events, once per key", async () => {
    await using database = await databases.open();
    const session = newSession({ name: "first", setup: { dedicated: true } });
    const created = await Promise.all([1, 2, 3].map(() => database.sessions.insert(session)));
    expect(created.filter(({ isNew }) => isNew)).toHaveLength(1);
    expect(new Set(created.map(({ session: row }) => row.id)).size).toBe(1);
    const { session: row, command } = await database.sessions.insert(session);
    expect(row).toMatchObject({ name: "first", phase: "ready", epoch: 0, last_seq: 2, node_id: null });
    expect(JSON.parse(row.settings)).toEqual(SETTINGS);
    expect(await allEvents(database, row.id)).toMatchObject([
      { seq: 1, type: "session.created" },
      { seq: 2, type: "command.accepted", commandId: command?.id, kind: "create" },
    ]);
    await expect(database.sessions.insert({ ...session, cwd: "/other" })).rejects.toMatchObject({
      code: "key_reused",
      details: { sessionId: row.id },
    });
    const other = await database.sessions.insert({ ...session, by: "somebody else" });
    expect(other.isNew).toBe(true);
  });

  it("are limited in number, also if they are created at once; repetitions are not counted", async () => {
    await using database = await databases.open();
    const limit = { maxSessions: 3 };
    const [first = newSession(), ...others] = Array.from({ length: 8 }, () => newSession());
    const { session, command } = await database.sessions.insert(first, limit);
    const created = await Promise.allSettled(others.map((other) => database.sessions.insert(other, limit)));
    expect(created.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
    expect(created.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "too_many_sessions" },
    });
    expect(await database.sessions.insert(first, limit)).toMatchObject({ isNew: false, command });
    const fork = { sessionId: session.id, key: "fork", kind: "fork", body: {}, by: "tester" } as const;
    await expect(database.commands.submit(fork, limit)).rejects.toMatchObject({ code: "too_many_sessions" });
    const forked = await database.commands.submit(fork, { maxSessions: 4 });
    expect(await database.commands.submit(fork, limit)).toEqual({ ...forked, isNew: false });
    // A queued fork counts: together they would pass the limit.
    const more = ["a", "b", "c"].map((key) => database.commands.submit({ ...fork, key }, { maxSessions: 5 }));
    const queued = await Promise.allSettled(more);
    expect(queued.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await expect(database.sessions.insert(newSession(), { maxSessions: 5 })).rejects.toMatchObject({
      code: "too_many_sessions",
      message:
        "There are already 3 sessions, and 2 forks that have not run yet; the limit is 5. Delete some first.",
    });
  });

  it("are listed by their newest change, in pages, searched and filtered", async () => {
    await using database = await databases.open();
    const rows: SessionRow[] = [];
    for (const name of ["alpha", "50%_off", "Beta"]) {
      const { session } = await database.sessions.insert(newSession({ name, cwd: `/work/${name}` }));
      rows.push(session);
    }
    const names = async (query: Parameters<Database["sessions"]["list"]>[0]) =>
      (await database.sessions.list(query)).rows.map(({ name }) => name ?? "").toSorted();
    expect(await names({ search: "BET" })).toEqual(["Beta"]);
    expect(await names({ search: "%_" })).toEqual(["50%_off"]);
    expect(await names({ search: "0%_O" })).toEqual(["50%_off"]);
    for (const search of ["a", "et"]) expect(await names({ search })).toContain("Beta");
    for (const search of [`"bet`, "b_ta", "nowhere", "et\\"]) expect(await names({ search })).toEqual([]);
    expect(await names({ search: "/work" })).toHaveLength(3);
    expect(await names({ phase: "idle" })).toEqual([]);
    expect(await names({ phase: ["idle", "ready"] })).toHaveLength(3);
    const seen: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await database.sessions.list({ limit: 2, ...(cursor !== undefined && { cursor }) });
      seen.push(...page.rows.map(({ id }) => id));
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(seen.toSorted()).toEqual(rows.map(({ id }) => id).toSorted());
    await expect(database.sessions.list({ cursor: "bogus" })).rejects.toMatchObject({
      code: "invalid_cursor",
    });

    const nodeId = await database.nodes.register(NODE);
    const [first] = rows as [SessionRow];
    const owner = await claimOne(database, nodeId, first.id);
    await database.sessions.update(owner, { archived: true });
    expect(await names({})).toEqual(["50%_off", "Beta"]);
    expect(await names({ archived: true })).toEqual(["alpha"]);
    expect(await names({ archived: "all" })).toHaveLength(3);
    expect(await database.sessions.countByPhase()).toEqual({ ready: 3 });
  });

  it("are reported as changed, and only when a list shows the change", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const hints: string[] = [];
    using _listening = database.store.notifier.subscribe(
      notificationKeys.sessions,
      (hint) => hint === "notified" && hints.push(hint),
    );
    const { updated_at: before } = await database.sessions.require(owner.sessionId);
    await database.journal.append(owner, [warning("not shown")]);
    expect(await database.sessions.require(owner.sessionId)).toMatchObject({ updated_at: before });
    expect(hints).toEqual([]);
    await database.sessions.update(owner, { name: "renamed" });
    expect(hints).toEqual(["notified"]);
    const [changed] = await database.sessions.changedSince(before);
    expect(changed).toMatchObject({ id: owner.sessionId, name: "renamed" });
    expect(await database.sessions.changedSince((changed?.updated_at ?? 0) + 1)).toEqual([]);
    expect(await database.sessions.now()).toBeGreaterThanOrEqual(changed?.updated_at ?? 0);
  });

  it("are claimed once, when they have something to do", async () => {
    await using database = await databases.open();
    for (let count = 0; count < 20; count += 1) await database.sessions.insert(newSession());
    const claims = await Promise.all(
      ["a", "b", "c", "d"].map(async (name) => {
        const nodeId = await database.nodes.register({ ...NODE, name });
        return database.sessions.claim({ ...CLAIM, nodeId, name });
      }),
    );
    const ids = claims.flat().map(({ sessionId }) => sessionId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThanOrEqual(10);
    expect(claims.flat()).toSatisfy((all: { epoch: number; reason: string }[]) =>
      all.every(({ epoch, reason }) => epoch === 1 && reason === "ready"),
    );
  });

  it("are left to nodes with their labels and a Codex that is not older", async () => {
    await using database = await databases.open();
    const { session } = await database.sessions.insert(newSession({ needs: ["gpu", "node:a"] }));
    const nodeId = await database.nodes.register(NODE);
    for (const labels of [[], ["gpu"], ["node:b", "gpu"]]) {
      expect(await database.sessions.claim({ ...CLAIM, nodeId, labels })).toEqual([]);
    }
    const [owner] = await database.sessions.claim({ ...CLAIM, nodeId, labels: ["x", "node:a", "gpu"] });
    expect(owner?.sessionId).toBe(session.id);
    if (!owner) return;
    await database.sessions.update(owner, { codexVersion: "0.170.0", needs: [] });
    await database.sessions.release(owner);
    await database.commands.submit({ sessionId: session.id, key: "1", kind: "compact", body: {}, by: "x" });
    expect(await database.sessions.claim({ ...CLAIM, nodeId, codexVersion: "0.169.9" })).toEqual([]);
    expect(await database.sessions.claim({ ...CLAIM, nodeId, codexVersion: "0.170.0" })).toHaveLength(1);
  });

  it("need no owner when there is nothing to do, and are claimed again for a command", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    expect(await database.sessions.require(owner.sessionId)).toMatchObject({ ready_at: null, phase: "idle" });
    await database.sessions.release(owner);
    await expect(database.journal.append(owner, [warning("late")])).rejects.toMatchObject({ code: "fenced" });
    expect(await database.sessions.claim({ ...CLAIM, nodeId: owner.nodeId })).toEqual([]);
    await database.commands.submit({
      sessionId: owner.sessionId,
      key: "1",
      kind: "message",
      body: { input: "hello", mode: "queue" },
      by: "x",
    });
    expect(await database.sessions.require(owner.sessionId)).toMatchObject({ phase: "ready" });
    const again = await claimOne(database, owner.nodeId, owner.sessionId);
    expect(again.epoch).toBe(owner.epoch + 1);
  });

  it("stay ready while a turn runs or a command waits", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    const { command } = await database.commands.submit({
      sessionId,
      key: "1",
      kind: "compact",
      body: {},
      by: "x",
    });
    await database.journal.append(owner, [{ type: "turn.started", threadId: "thread", turnId: "turn" }]);
    expect(await database.sessions.require(sessionId)).toMatchObject({
      phase: "running",
      active_turn_id: "turn",
      ready_at: expect.any(Number),
    });
    await database.commands.finish(owner, command.id, { ok: true });
    expect((await database.sessions.require(sessionId)).ready_at).not.toBeNull();
    await database.journal.append(owner, [
      { type: "turn.interrupted", threadId: "thread", turnId: "turn", result: {} as never },
    ]);
    expect(await database.sessions.require(sessionId)).toMatchObject({
      phase: "idle",
      active_turn_id: null,
      ready_at: null,
    });
  });

  it("move to another node when the lease of theirs has ended, and at once to the next boot", async () => {
    await using database = await databases.open();
    const lost = await ownedSession(database, { name: "lost" });
    await database.commands.submit({
      sessionId: lost.sessionId,
      key: "1",
      kind: "compact",
      body: {},
      by: "x",
    });
    const nodeId = await database.nodes.register({ ...NODE, name: "other" });
    const claim = () => database.sessions.claim({ ...CLAIM, nodeId, name: "other" });
    expect(await claim()).toEqual([]);
    expect(await database.nodes.renew(lost.nodeId)).toEqual({ isDrainRequested: false });
    await database.nodes.retire(lost.nodeId);
    expect(await database.nodes.renew(lost.nodeId)).toBeUndefined();
    expect(await claim()).toMatchObject([{ sessionId: lost.sessionId, reason: "node_lost", epoch: 2 }]);
    expect((await allEvents(database, lost.sessionId)).at(-1)).toMatchObject({
      type: "session.moved",
      from: "lost",
      to: "other",
      reason: "node_lost",
    });
    const next = await database.nodes.register({ ...NODE, name: "other" });
    expect(await database.sessions.claim({ ...CLAIM, nodeId: next, name: "other" })).toMatchObject([
      { sessionId: lost.sessionId, reason: "restart", epoch: 3 },
    ]);
    const alive = (await database.nodes.list()).filter(({ isAlive }) => isAlive).map(({ id }) => id);
    expect(alive.toSorted()).toEqual([nodeId, next].toSorted());
  });

  it("of a fork need no command and are inserted in the transaction of the command that forks", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { command } = await database.commands.submit({
      sessionId: owner.sessionId,
      key: "1",
      kind: "fork",
      body: {},
      by: "x",
    });
    const fork = newSession({ id: "fork", threadId: "forked" });
    await database.commands.finish(
      owner,
      command.id,
      { ok: true, sessionId: "fork" },
      {
        also: async (trx) => {
          await database.sessions.insert(fork, { trx });
          await database.sessions.insert(fork, { trx });
        },
      },
    );
    expect(await database.sessions.require("fork")).toMatchObject({
      thread_id: "forked",
      phase: "idle",
      last_seq: 1,
    });
    expect(await database.commands.pending("fork")).toEqual([]);
  });

  it("keep only their deletion after a purge", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    await expect(database.sessions.purge(sessionId)).rejects.toThrow("not deleted");
    await database.journal.append(owner, [warning("secret")], (trx) =>
      database.rollouts.append(trx, owner, {
        rolloutId: "file",
        path: "sessions/file.jsonl",
        role: "main",
        atByte: 0,
        data: new Uint8Array(10),
      }),
    );
    await database.sessions.update(owner, { phase: "deleted" }, [{ type: "session.deleted" }]);
    await database.sessions.purge(sessionId);
    const { events, gap } = await database.journal.read(sessionId);
    expect(events).toMatchObject([{ type: "session.deleted" }]);
    expect(gap).toEqual({ from: 1, to: (events[0]?.seq ?? 0) - 1 });
    expect(await database.rollouts.read("file")).toBeUndefined();
    await expect(database.sessions.require(sessionId)).rejects.toMatchObject({ code: "session_deleted" });
    expect((await database.sessions.list({ archived: "all" })).rows).toEqual([]);
  });

  it("are purged later if their first purge failed", async () => {
    await using database = await databases.open();
    const deleted = await ownedSession(database);
    const other = await ownedSession(database, { name: "other" });
    await database.sessions.update(deleted, { phase: "deleted" }, [{ type: "session.deleted" }]);
    await database.sessions.purgeDeleted();
    const { events } = await database.journal.read(deleted.sessionId);
    expect(events).toMatchObject([{ type: "session.deleted" }]);
    expect((await database.journal.read(other.sessionId)).gap).toBeUndefined();
  });
});

it.each([
  ["0.166.0", "0.166.0", 0],
  ["0.166.0", "0.166.1", -1],
  ["0.170.0", "0.99.9", 1],
  ["1.0.0-alpha.1", "1.0.0", 0],
])("compares the versions %s and %s", (a, b, sign) => {
  expect(Math.sign(compareVersions(a, b))).toBe(sign);
});
