// Daemons of two versions use one store while the newer ones migrate it.
import { openStore, type Store } from "@codexkit/store";
import { STORE_KINDS, TestLocations } from "@codexkit/store/testing";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "../database.ts";
import { migrations } from "./migrations.ts";

const FORMER = "0005-logins";

/** Opens the store like the previous version. */
async function openFormer(location: string): Promise<Store<object>> {
  return openStore<object>({
    location,
    name: "daemon",
    migrations: (kind) =>
      Object.fromEntries(Object.entries(migrations(kind)).filter(([name]) => name <= FORMER)),
  });
}

/** Statements of the previous version, which only contain its own columns. */
async function useAsFormer({ db }: Store<object>, id: string): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await sql`insert into session (id, tenant_id, name, cwd, settings, setup, phase, preview, created_at, updated_at, epoch, last_seq,
      first_seq, merged_seq, priority, needs) values (${id}, 'default', ${`Former ${id}`}, '/work', '{}', '{}', 'idle', '', 1, 1, 0, 0, 1, 0,
      0, '[]')`.execute(trx);
    await sql`insert into node (id, name, labels, capacity, state, lease_until, version, codex_version, started_at)
      values (${id}, ${id}, '[]', 1, 'up', 0, '0', '0', 1)`.execute(trx);
    await sql`insert into token (id, name, hash, scopes, created_at) values (${id}, 'x', ${id}, '[]', 1)`.execute(
      trx,
    );
    await sql`insert into rollout (id, path, bytes, image_bytes) values (${id}, 'x', 0, 0)`.execute(trx);
    await sql`update session set last_seq = last_seq + 1, preview = 'seen' where id = ${id}`.execute(trx);
  });
}

describe.each(STORE_KINDS)("migrations on %s", (kind) => {
  let locations: TestLocations;
  beforeAll(async () => {
    locations = await TestLocations.start(kind);
  });
  afterAll(() => locations[Symbol.asyncDispose]());

  it("keep what the previous version has stored, and find it", async () => {
    const location = await locations.create();
    {
      await using former = await openFormer(location);
      await useAsFormer(former, "before");
    }
    await using database = await openDatabase(location);
    const { rows } = await database.sessions.list({ search: "former" });
    expect(rows).toMatchObject([{ id: "before", interrupted_turn_id: null }]);
    expect(await database.nodes.list()).toMatchObject([{ turns: 0, drain_requested: 0 }]);
  });

  it("allow the previous version to start again, as in a rolling deploy or a rollback", async () => {
    const location = await locations.create();
    await (await openFormer(location)).close();
    await (await openDatabase(location)).close();
    {
      await using former = await openFormer(location);
      await useAsFormer(former, "again");
    }
    await using database = await openDatabase(location);
    const { rows } = await database.sessions.list({ search: "former" });
    expect(rows).toMatchObject([{ id: "again", preview: "seen" }]);
  });
});

describe("a migration on Postgres", () => {
  let locations: TestLocations;
  beforeAll(async () => {
    locations = await TestLocations.start("postgres");
  });
  afterAll(() => locations[Symbol.asyncDispose]());

  it("never blocks a running daemon of the previous version, which continues afterwards", async () => {
    const location = await locations.create();
    await using former = await openFormer(location);
    await useAsFormer(former, "before");
    const opening = await former.db.transaction().execute(async (trx) => {
      await sql`update session set preview = 'long' where id = 'before'`.execute(trx);
      // Both start while the transaction locks the table.
      const nodes = [openDatabase(location), openDatabase(location)];
      const waiting = sql<{ count: number }>`
        select count(*) as count from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
      for (let seen = 0; seen < 2;) {
        const { rows } = await waiting.execute(former.db);
        if ((rows[0]?.count ?? 0) > 0) seen += 1;
        // Would wait behind a migration that waits for this transaction.
        await sql`select count(*) from session`.execute(former.db);
      }
      return nodes;
    });
    const [one, two] = await Promise.all(opening);
    await using first = one;
    await using second = two;
    await useAsFormer(former, "after");
    for (const database of [first, second]) {
      const { rows } = await (database?.sessions.list({ search: "former" }) ?? { rows: [] });
      expect(rows.map(({ id, preview }) => `${id} ${preview}`).toSorted()).toEqual([
        "after seen",
        "before long",
      ]);
    }
  });
});
