import { PostgresServer } from "@codexkit/store/testing";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openStore } from "../open-store.ts";
import { PreparedStatements } from "./prepared-statements.ts";

/** More than it takes until a statement is prepared. */
const USES = 20;

function useOften(statements: PreparedStatements, text: string): string | undefined {
  for (let use = 1; use < USES; use += 1) statements.nameOf(text);
  return statements.nameOf(text);
}

test("prepares a statement once it has been used often, always under the same name", () => {
  const statements = new PreparedStatements();
  expect(statements.nameOf("select id from note")).toBeUndefined();
  const name = useOften(statements, "select id from note");
  expect(name).toBeDefined();
  expect(statements.nameOf("select id from note")).toBe(name);
  expect(useOften(statements, "\n  update note set id = $1")).not.toBe(name);
});

test.each([
  "select * from note",
  'select "note".* from "note"',
  "select id, * from note",
  "insert into note values ($1) returning *",
  "alter table note add column name text",
  "begin",
])("never prepares what a migration could change: %s", (text) => {
  expect(useOften(new PreparedStatements(), text)).toBeUndefined();
});

test("prepares products and counts", () => {
  const statements = new PreparedStatements();
  expect(useOften(statements, "select count(*) from note")).toBeDefined();
  expect(useOften(statements, "select id * 1000 as ms from note")).toBeDefined();
});

test("prepares a bounded number of statements", () => {
  const statements = new PreparedStatements();
  const names = Array.from({ length: 500 }, (_, index) => useOften(statements, `select ${index}`));
  expect(new Set(names).size).toBe(101);
  for (let index = 0; index < 10_000; index += 1) statements.nameOf(`select ${index}, 1`);
  expect(statements.nameOf("select 0")).toBe(names[0]);
});

describe("on Postgres", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const open = async (connections: number) =>
    openStore<object>({
      location: await server.createDatabase(),
      migrations: {},
      limits: { connectMs: 20_000, connections },
    });

  test("statements are prepared, and survive a migration that adds a column", async () => {
    await using store = await open(1);
    await sql`create table note (id bigint)`.execute(store.db);
    const insert = async () => sql`insert into note (id) values (${1})`.execute(store.db);
    const read = async () => sql`select id from note where id = ${1}`.execute(store.db);
    for (let use = 0; use < USES; use += 1) {
      await insert();
      await read();
    }
    const { rows } = await sql<{ statement: string }>`
      select statement from pg_prepared_statements order by statement`.execute(store.db);
    expect(rows.map(({ statement }) => statement)).toEqual([
      "insert into note (id) values ($1)",
      "select id from note where id = $1",
    ]);
    await sql`alter table note add column name text`.execute(store.db);
    await insert();
    expect((await read()).rows).toHaveLength(USES + 1);
  });

  test("a statement whose result was changed fails once at most", async () => {
    await using store = await open(1);
    await sql`create table note (id bigint)`.execute(store.db);
    const read = async () => sql`select id from note`.execute(store.db);
    for (let use = 0; use < USES; use += 1) await read();
    await sql`alter table note alter column id type text`.execute(store.db);
    await expect(read()).rejects.toThrow("cached plan must not change result type");
    await expect(read()).resolves.toMatchObject({ rows: [] });
  });
});
