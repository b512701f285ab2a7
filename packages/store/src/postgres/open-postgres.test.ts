import { PostgresProxy, PostgresServer } from "@codexkit/store/testing";
import { sql, type Kysely } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { DEFAULT_STORE_LIMITS, type StoreLimits } from "../limits.ts";
import { openStore } from "../open-store.ts";
import type { Store } from "../store.ts";
import { modeBecomes } from "../testing/notifier-mode.ts";
import { openPostgres } from "./open-postgres.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const open = (location: string, limits = {}) =>
  openStore<object>({ location, migrations: {}, limits: { connectMs: 20_000, ...limits } });

/** Without migrations, which on a busy machine could reach a limit before the test does. */
const openWithLimits = (location: string, limits: Partial<StoreLimits>) =>
  openPostgres<object>({ location, migrations: {} }, { ...DEFAULT_STORE_LIMITS, ...limits });

/** Resolves when a listener of the key is called because of a notification, not of a poll. */
async function nextNotification(store: Store<object>, key: string): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  using _listening = store.notifier.subscribe(key, (hint) => hint === "notified" && resolve());
  await promise;
}

test("notifies the listeners of another process, in one message for many keys", async () => {
  const location = await server.createDatabase();
  await using here = await open(location);
  await using there = await open(location);
  await Promise.all([modeBecomes(here, "listening"), modeBecomes(there, "listening")]);
  const heard = nextNotification(there, "session:999");
  here.notifier.notify(Array.from({ length: 1_000 }, (_, number) => `session:${number}`));
  await heard;
});

test("survives a crash of Postgres: queries fail or wait, then all goes on", async () => {
  await using store = await open(await server.createDatabase());
  await sql`create table note (id bigint)`.execute(store.db);
  await modeBecomes(store, "listening");
  const slow = sql`select pg_sleep(60)`.execute(store.db);
  const failure = slow.catch((error: unknown) => error);
  // A second query starts after the first one, so that the first one has reached the server.
  await store.check();
  await server.kill();
  expect(await failure).toMatchObject({ code: "store_unavailable" });
  await modeBecomes(store, "polling");
  const waiting = sql`insert into note values (1)`.execute(store.db);
  await server.restart();
  await waiting;
  await modeBecomes(store, "listening");
});

test("tries again if a connection is lost before its first statement is answered", async () => {
  let cuts = 0;
  // The first rows that a connection gets are those of its settings.
  const decide = ({ type }: { readonly type: string }) =>
    type === "D" && (cuts += 1) <= 6 ? "cut" : "forward";
  await using proxy = await PostgresProxy.start(await server.createDatabase(), { decide });
  await using store = openWithLimits(proxy.url, {});
  await Promise.all([store.check(), store.check(), store.check()]);
  expect(cuts).toBeGreaterThan(6);
});

test("rejects within its limit while Postgres is down", async () => {
  const location = await server.createDatabase();
  await server.stop();
  try {
    await using store = openWithLimits(location, { connectMs: 200 });
    await expect(store.check()).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(open(location, { connectMs: 200 })).rejects.toMatchObject({ code: "store_unavailable" });
  } finally {
    await server.restart();
  }
});

test("polls when LISTEN succeeds but nothing is delivered, as behind a connection pooler", async () => {
  const location = await server.createDatabase();
  await using proxy = await PostgresProxy.start(location, {
    decide: ({ type }) => (type === "A" ? "drop" : "forward"),
  });
  await using store = await open(proxy.url);
  const polled = Promise.withResolvers<string>();
  using _listening = store.notifier.subscribe("key", polled.resolve);
  expect(await polled.promise).toBe("poll");
  expect(store.notifier.mode).toBe("polling");
});

test.each([
  ["53100", "store_full"],
  ["57P01", "store_unavailable"],
  ["53300", "store_unavailable"],
])("maps SQLSTATE %s to %s", async (state, code) => {
  await using store = await open(await server.createDatabase());
  const raised = sql.raw(`do $$ begin raise exception 'x' using errcode = '${state}'; end $$`);
  await expect(raised.execute(store.db)).rejects.toMatchObject({ code });
  await store.check();
});

test("polls while notifications arrive too, in case one is lost", async () => {
  await using store = await open(await server.createDatabase(), { pollMs: 10, fastPollMs: 3_600_000 });
  await modeBecomes(store, "listening");
  const polled = Promise.withResolvers<string>();
  using _listening = store.notifier.subscribe("key", polled.resolve);
  expect(await polled.promise).toBe("poll");
});

test("uses no more connections than it may", async () => {
  await using store = openWithLimits(await server.createDatabase(), { connections: 1, connectMs: 200 });
  const canConnect = () =>
    store.check().then(
      () => true,
      () => false,
    );
  await expect.poll(canConnect).toBe(true);
  await store.db.transaction().execute(async (trx) => {
    await sql`select 1`.execute(trx);
    await expect(store.check()).rejects.toMatchObject({ code: "store_unavailable" });
  });
  await store.check();
});

test("ends a statement at its limit, and a wait for a lock", async () => {
  const location = await server.createDatabase();
  await using other = await open(location);
  await sql`create table note (id bigint)`.execute(other.db);
  await using store = openWithLimits(location, { statementMs: 200, lockMs: 100 });
  await expect(sql`select pg_sleep(60)`.execute(store.db)).rejects.toMatchObject({
    code: "store_unavailable",
  });
  await other.db.transaction().execute(async (trx) => {
    await sql`lock table note`.execute(trx);
    await expect(sql`select * from note`.execute(store.db)).rejects.toMatchObject({
      code: "store_unavailable",
    });
  });
});

test("replaces NUL characters, which Postgres can't store in a text, also in lists", async () => {
  await using store = await open(await server.createDatabase());
  const { rows } = await sql`select ${"a\0b"}::text as one, ${["c\0", null]}::text[] as many`.execute(
    store.db,
  );
  expect(rows).toEqual([{ one: "a\uFFFDb", many: ["c\uFFFD", null] }]);
});

test("lets several processes create the schema at the same moment", async () => {
  const location = await server.createDatabase();
  const migrations = {
    "0001": {
      up: (db: Kysely<unknown>) => db.schema.createTable("note").addColumn("id", "bigint").execute(),
    },
  };
  const stores = await Promise.all([1, 2, 3, 4].map(() => openStore<object>({ location, migrations })));
  for (const store of stores) {
    await store.check();
    await store.close();
  }
});

test("a lock has one holder, and is free when it is released, its connection breaks, or its store is closed", async () => {
  const location = await server.createDatabase();
  await using here = await open(location);
  await using there = await open(location);
  const held = await here.lock("name");
  expect(held).toBeDefined();
  expect(await there.lock("name")).toBeUndefined();
  expect(await there.lock("other")).toBeDefined();
  await held?.[Symbol.asyncDispose]();
  await expect.poll(() => there.lock("name")).toBeDefined();
  await sql`select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'`.execute(here.db);
  await expect.poll(() => here.lock("name")).toBeDefined();
  // It would take the lock when it has connected again.
  await there.close();
  await here.close();
  await using later = await open(location);
  await expect.poll(() => later.lock("name")).toBeDefined();
});

test("an unknown database is a bad location", async () => {
  await expect(open(server.url("missing"))).rejects.toMatchObject({ code: "bad_location" });
});

test("does not change errors of a statement", async () => {
  await using store = await open(await server.createDatabase());
  await expect(sql`select * from missing`.execute(store.db)).rejects.toMatchObject({ code: "42P01" });
});
