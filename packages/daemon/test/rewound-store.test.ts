// A failover to a replica that lagged behind: the store forgets what it has acknowledged.
import { PostgresServer } from "@codexkit/store/testing";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  allEvents,
  assertGapless,
  claimOne,
  delta,
  newSession,
  NODE,
  ownedSession,
  warning,
} from "./database-fixture.ts";
import { openDatabase, type OpenDatabaseOptions } from "../src/database.ts";
import type { NewSessionEvent } from "../src/api/event.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const LIMITS = { connectMs: 20_000, pollMs: 50, fastPollMs: 50 };
const open = (location: string, limits: OpenDatabaseOptions["limits"] = {}) =>
  openDatabase(location, { limits: { ...LIMITS, ...limits } });

const item = {
  type: "agentMessage",
  id: "item",
  text: "done",
  phase: null,
  memoryCitation: null,
  delivery: null,
  questions: null,
} as const;
const step = { threadId: "thread", turnId: "turn" };
const started: NewSessionEvent = { type: "item.started", ...step, item: { ...item, text: "" } };
const completed: NewSessionEvent = { type: "item.completed", ...step, item };

it("gets the lost events again, with their numbers, items and rollouts", async () => {
  const location = await server.createDatabase();
  await using database = await open(location);
  const owner = await ownedSession(database);
  await database.journal.append(owner, [warning("kept")]);
  const snapshot = await server.snapshot();
  await database.journal.append(owner, [started, delta("done", 0)]);
  await database.journal.append(owner, [completed], (trx) =>
    database.rollouts.append(trx, owner, {
      rolloutId: "file",
      path: "sessions/file.jsonl",
      role: "main",
      atByte: 0,
      data: Buffer.from("line"),
    }),
  );
  const before = await allEvents(database, owner.sessionId);
  const reader = database.journal.follow(owner.sessionId, { after: (before.at(-1)?.seq ?? 0) - 1 });
  // A reader that begins during the restart would be told that the store is away.
  expect((await reader.next()).value).toEqual(before.slice(-1));
  const next = reader.next();
  await snapshot.restore();
  const [event] = await database.journal.append(owner, [warning("after")]);
  const after = await allEvents(database, owner.sessionId);
  expect(after.slice(0, -1)).toEqual(before);
  expect(after.at(-1)).toEqual(event);
  expect((await next).value).toEqual([event]);
  await reader.return();
  expect(await database.journal.item(owner.sessionId, "item")).toMatchObject({ status: "completed" });
  expect(Buffer.from((await database.rollouts.read("file")) ?? []).toString()).toBe("line");
});

it("gets them from an owner that has nothing to write, and readers of another node go on", async () => {
  const location = await server.createDatabase();
  await using database = await open(location);
  await using other = await open(location);
  const owner = await ownedSession(database);
  const snapshot = await server.snapshot();
  const [lost] = await database.journal.append(owner, [warning("lost")]);
  const reader = other.journal.follow(owner.sessionId, { after: (lost?.seq ?? 0) - 1 });
  expect((await reader.next()).value).toEqual([lost]);
  const next = reader.next();
  await snapshot.restore();
  await expect.poll(async () => (await other.sessions.get(owner.sessionId))?.last_seq).toBe(lost?.seq);
  expect((await allEvents(database, owner.sessionId)).at(-1)).toEqual(lost);
  const [after] = await database.journal.append(owner, [warning("after")]);
  expect((await next).value).toEqual([after]);
  await reader.return();
});

it("has a gap for what nobody knows any more", async () => {
  await using database = await open(await server.createDatabase(), { rewindBytes: 1_000 });
  const owner = await ownedSession(database);
  const snapshot = await server.snapshot();
  const first = (await database.sessions.require(owner.sessionId)).last_seq + 1;
  for (let count = 0; count < 20; count += 1) await database.journal.append(owner, [warning(`${count}`)]);
  await snapshot.restore();
  const [event] = await database.journal.append(owner, [warning("after")]);
  expect(event?.seq).toBe(first + 20);
  const { events } = await database.journal.read(owner.sessionId, { after: first - 1 });
  const [gap, ...rest] = events;
  if (gap?.type !== "gap") throw new Error("There is no gap.");
  expect(gap).toMatchObject({ from: first, reason: "store_rewound", seq: gap.to });
  assertGapless(rest, gap.to);
  expect(rest.length).toBeGreaterThan(1);
  expect(rest.at(-2)).toMatchObject({ message: "19" });
});

it("stores only the events of a write whose command is lost", async () => {
  await using database = await open(await server.createDatabase());
  const owner = await ownedSession(database);
  const { sessionId } = owner;
  const snapshot = await server.snapshot();
  const body = { input: "x", mode: "queue" as const };
  const { command } = await database.commands.submit({ sessionId, key: "1", kind: "message", body, by: "x" });
  await database.commands.finish(owner, command.id, { ok: true });
  const known = await allEvents(database, sessionId);
  await snapshot.restore();
  await database.journal.append(owner, [warning("after")]);
  const { events } = await database.journal.read(sessionId);
  expect(events.at(-2)).toEqual(known.at(-1));
  // The event of the client is not the owner's to store.
  expect(events.filter(({ type }) => type === "gap")).toHaveLength(1);
});

it("tells readers when the owner is gone too, and does not let them wait for ever", async () => {
  const location = await server.createDatabase();
  await using database = await open(location, { rewindGraceMs: 200 });
  let sessionId = "";
  let newest = 0;
  const snapshots: { restore(): Promise<void> }[] = [];
  {
    await using writer = await open(location);
    const owner = await ownedSession(writer);
    sessionId = owner.sessionId;
    snapshots.push(await server.snapshot());
    const [lost] = await writer.journal.append(owner, [warning("lost")]);
    newest = lost?.seq ?? 0;
  }
  const reader = database.journal.follow(sessionId, { after: newest });
  const next = reader.next();
  // The test waits for it later.
  next.catch(() => {});
  await snapshots[0]?.restore();
  await expect(next).rejects.toMatchObject({ code: "invalid_cursor" });
  await expect(database.journal.follow(sessionId, { after: newest }).next()).rejects.toMatchObject({
    code: "invalid_cursor",
  });
  await expect(database.journal.read(sessionId, { after: newest })).rejects.toMatchObject({
    code: "invalid_cursor",
  });
});

it("fences an owner whose claim is lost", async () => {
  const location = await server.createDatabase();
  await using database = await open(location);
  const { session } = await database.sessions.insert(newSession());
  const nodeId = await database.nodes.register(NODE);
  const snapshot = await server.snapshot();
  const owner = await claimOne(database, nodeId, session.id);
  await database.journal.append(owner, [warning("lost")]);
  await snapshot.restore();
  await expect(database.journal.append(owner, [warning("late")])).rejects.toMatchObject({ code: "fenced" });
});
