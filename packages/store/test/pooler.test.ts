// A connection pooler in transaction mode, like PgBouncer: nothing belongs to a client outside a transaction.
import { PostgresServer, TransactionPooler } from "@codexkit/store/testing";
import { sql, type Kysely } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStore } from "../src/open-store.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const migrations = {
  "0001": {
    up: (db: Kysely<unknown>) => db.schema.createTable("note").addColumn("id", "bigint").execute(),
  },
};

const open = (location: string) =>
  openStore<{ note: { id: number } }>({
    location,
    migrations,
    limits: { connectMs: 20_000, checkMs: 1_000, probeMs: 100 },
  });

test("migrations, queries and transactions work, with the limits inside transactions and without leaking settings", async () => {
  const location = await server.createDatabase();
  await using pooler = await TransactionPooler.start(location);
  const stores = await Promise.all([1, 2, 3].map(() => open(pooler.url)));
  await using store = stores[0];
  await Promise.all(stores.slice(1).map((other) => other.close()));
  const timeout = sql<{ statement_timeout: string }>`show statement_timeout`;
  await Promise.all(
    Array.from({ length: 20 }, async (_, id) => {
      await store?.db.insertInto("note").values({ id }).execute();
      await store?.db.transaction().execute(async (trx) => {
        expect((await timeout.execute(trx)).rows).toEqual([{ statement_timeout: "30s" }]);
        await trx.updateTable("note").set({ id }).where("id", "=", id).execute();
      });
    }),
  );
  if (!store) throw new Error("No store was opened.");
  expect(await store.db.selectFrom("note").select("id").execute()).toHaveLength(20);
  for (let count = 0; count < 8; count += 1) {
    expect((await timeout.execute(store.db)).rows).toEqual([{ statement_timeout: "0" }]);
  }
});

test("the notifier polls, although it sometimes receives its own notifications", async () => {
  const location = await server.createDatabase();
  // All clients share one connection, which is the one that listens.
  await using pooler = await TransactionPooler.start(location, { connections: 1 });
  await using store = await open(pooler.url);
  const modes = new Set<string>();
  for (let polls = 0; polls < 10; polls += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    using _listening = store.notifier.subscribe("key", (hint) => hint === "poll" && resolve());
    store.notifier.notify(["other"]);
    await promise;
    modes.add(store.notifier.mode);
  }
  expect([...modes]).toEqual(["polling"]);
});

test("a lock has one holder, and is free when the holder releases it or disconnects", async () => {
  const location = await server.createDatabase();
  await using pooler = await TransactionPooler.start(location);
  await using here = await open(pooler.url);
  await using there = await open(pooler.url);
  await using direct = await open(location);
  const held = await here.lock("name");
  expect(held).toBeDefined();
  // Every attempt runs on a different server connection, one of which holds the lock.
  for (let count = 0; count < 8; count += 1) expect(await there.lock("name")).toBeUndefined();
  expect(await direct.lock("name")).toBeUndefined();
  await held?.[Symbol.asyncDispose]();
  await expect.poll(() => there.lock("name")).toBeDefined();
  await there.close();
  await expect.poll(() => direct.lock("name")).toBeDefined();
});
