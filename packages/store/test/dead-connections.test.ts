// Networks that fail without an error: nothing hangs, every wait has a limit, and everything works afterwards.
import { PostgresProxy, PostgresServer } from "@codexkit/store/testing";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../src/open-store.ts";
import type { StoreLimits } from "../src/limits.ts";
import { modeBecomes } from "../src/testing/notifier-mode.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await PostgresServer.start();
});
afterAll(() => server[Symbol.asyncDispose]());

const SHORT: Partial<StoreLimits> = {
  connectMs: 20_000,
  statementMs: 500,
  unansweredMs: 100,
  checkMs: 500,
  probeMs: 200,
};

const open = (location: string, limits = SHORT) => openStore<object>({ location, migrations: {}, limits });

const one = sql<{ one: number }>`select 1 as one`;

describe.each(["unix", "tcp"] as const)("over %s", (transport) => {
  const openBehindProxy = async () => {
    const proxy = await PostgresProxy.start(await server.createDatabase(), { transport });
    return { proxy, store: await open(proxy.url) };
  };

  test("a dedicated connection rejects at its timeout and is replaced, however its network fails", async () => {
    const { proxy, store } = await openBehindProxy();
    await using _proxy = proxy;
    await using _store = store;
    const patient = store.dedicated({ timeoutMs: 20_000 });
    const hasty = store.dedicated({ timeoutMs: 300 });
    const works = (connection = patient) => connection.run(async (db) => (await one.execute(db)).rows);
    expect(await works()).toEqual([{ one: 1 }]);
    for (const mode of ["blackhole", "half-open", "reset"] as const) {
      // Connected before the network fails.
      await expect.poll(() => works(hasty).catch(() => [])).toEqual([{ one: 1 }]);
      proxy.setMode(mode);
      // A half-open connection is replaced by one that works.
      await expect(works(hasty)).rejects.toMatchObject({ code: "store_unavailable" });
      proxy.setMode("pass");
      await expect.poll(() => works(hasty).catch(() => [])).toEqual([{ one: 1 }]);
    }
    proxy.setMode("delay", { delayMs: 20 });
    expect(await works()).toEqual([{ one: 1 }]);
  });

  test("queries of the pool reject at their timeout, and the pool checks its other connections before their next use", async () => {
    const { proxy, store } = await openBehindProxy();
    await using _proxy = proxy;
    await using _store = store;
    // Opens several connections.
    await Promise.all([1, 2, 3, 4].map(() => one.execute(store.db)));
    proxy.setMode("half-open");
    await expect(one.execute(store.db)).rejects.toMatchObject({ code: "store_unavailable" });
    // All other connections are dead too, but no query fails because of them.
    await Promise.all([1, 2, 3, 4].map(() => one.execute(store.db)));
    proxy.setMode("blackhole");
    const failed = store.db.transaction().execute((trx) => one.execute(trx));
    await expect(failed).rejects.toMatchObject({ code: "store_unavailable" });
    proxy.setMode("pass");
    await one.execute(store.db);
  });

  test("the notifier polls while its connection is dead, and opens a new one", async () => {
    const { proxy, store } = await openBehindProxy();
    await using _proxy = proxy;
    await using _store = store;
    for (const mode of ["half-open", "blackhole"] as const) {
      await modeBecomes(store, "listening");
      proxy.setMode(mode);
      await modeBecomes(store, "polling");
      proxy.setMode("pass");
    }
    await modeBecomes(store, "listening");
  });

  test("a lock is acquired again after its connection died, although Postgres has not noticed", async () => {
    const location = await server.createDatabase();
    await using proxy = await PostgresProxy.start(location, { transport });
    const warnings: string[] = [];
    await using store = await openStore<object>({
      location: proxy.url,
      migrations: {},
      limits: SHORT,
      onWarning: ({ message }) => warnings.push(message),
    });
    await using direct = await open(location);
    expect(await store.lock("name")).toBeDefined();
    const holders = sql<{ pid: number }>`
      select pid from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())`;
    const holder = async () => (await holders.execute(direct.db)).rows[0]?.pid;
    const first = await holder();
    proxy.setMode("half-open");
    await expect.poll(holder, { timeout: 20_000 }).toSatisfy((pid) => pid !== undefined && pid !== first);
    expect(await direct.lock("name")).toBeUndefined();
    expect(warnings.filter((text) => text.includes("lock"))).toEqual([]);
  });
});

test("a dedicated connection does not wait for the pool", async () => {
  await using store = await open(await server.createDatabase(), { ...SHORT, connections: 1 });
  const connection = store.dedicated({ timeoutMs: 10_000 });
  await store.db.transaction().execute(async (trx) => {
    await one.execute(trx);
    expect(await connection.run(async (db) => (await one.execute(db)).rows)).toEqual([{ one: 1 }]);
  });
});

test("a dedicated connection runs one call at a time, and none after the store was closed", async () => {
  const store = await open(await server.createDatabase());
  const connection = store.dedicated({ timeoutMs: 10_000 });
  const order: number[] = [];
  const add = (number: number) =>
    connection.run(async (db) => {
      order.push(number);
      await one.execute(db);
      order.push(number);
    });
  await Promise.all([add(1), add(2), add(3)]);
  expect(order).toEqual([1, 1, 2, 2, 3, 3]);
  await store.close();
  await expect(add(4)).rejects.toThrow(Error);
});
