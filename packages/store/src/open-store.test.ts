import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { sql } from "kysely";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { StoreError } from "./errors.ts";
import { openStore } from "./open-store.ts";
import type { StoreMigration } from "./store.ts";
import { STORE_KINDS, TestLocations } from "./testing/index.ts";

interface Tables {
  note: { id: number; text: string; data: Uint8Array | null };
}

const migrations: Record<string, StoreMigration> = {
  "0001": {
    up: async (db) => {
      await db.schema
        .createTable("note")
        .addColumn("id", "bigint", (column) => column.primaryKey())
        .addColumn("text", "text", (column) => column.notNull())
        .addColumn("data", sql`bytea`)
        .execute();
    },
  },
};

const open = (location: string, more = migrations) => openStore<Tables>({ location, migrations: more });

it.skipIf(process.platform === "win32")(
  "creates SQLite files that only their owner can read, in any folder",
  async () => {
    const location = await mkdtemp(join(tmpdir(), "store-modes-"));
    try {
      await chmod(location, 0o755);
      await using _store = await open(location);
      const names = await readdir(location);
      expect(names).toEqual(expect.arrayContaining(["store.lock", "store.sqlite", "store.sqlite-wal"]));
      for (const name of names)
        expect([name, (await stat(join(location, name))).mode & 0o777]).toEqual([name, 0o600]);
    } finally {
      await rm(location, { recursive: true });
    }
  },
);

describe.each(STORE_KINDS)("openStore on %s", (kind) => {
  let locations: TestLocations;
  beforeAll(async () => {
    locations = await TestLocations.start(kind);
  });
  afterAll(() => locations[Symbol.asyncDispose]());

  it("keeps rows over a restart, numbers as numbers and bytes as bytes", async () => {
    const location = await locations.create();
    const note = { id: 2 ** 40, text: "a 🦀 \u2028", data: new Uint8Array([0, 1, 255]) };
    {
      await using store = await open(location);
      expect(store.kind).toBe(kind);
      await store.db.insertInto("note").values(note).execute();
    }
    await using store = await open(location);
    const row = await store.db.selectFrom("note").selectAll().executeTakeFirstOrThrow();
    expect({ ...row, data: new Uint8Array(row.data ?? []) }).toEqual(note);
    const { count } = await store.db
      .selectFrom("note")
      .select((select) => select.fn.countAll<number>().as("count"))
      .executeTakeFirstOrThrow();
    expect(count).toBe(1);
  });

  it("stores nothing of a transaction that throws", async () => {
    await using store = await open(await locations.create());
    const failed = store.db.transaction().execute(async (trx) => {
      await trx.insertInto("note").values({ id: 1, text: "x", data: null }).execute();
      throw new Error("changed my mind");
    });
    await expect(failed).rejects.toThrow("changed my mind");
    expect(await store.db.selectFrom("note").selectAll().execute()).toEqual([]);
  });

  it("has a clock in whole milliseconds", async () => {
    await using store = await open(await locations.create());
    const { rows } = await sql<{ now: number }>`select ${store.now} as now`.execute(store.db);
    expect(rows[0]?.now).toSatisfy(Number.isSafeInteger);
    expect(Math.abs((rows[0]?.now ?? 0) - Date.now())).toBeLessThan(60_000);
  });

  it("runs new migrations once, and refuses a store that a newer version has changed", async () => {
    const location = await locations.create();
    const newer: Record<string, StoreMigration> = {
      ...migrations,
      "0002": { up: (db) => db.schema.createTable("extra").addColumn("id", "bigint").execute() },
    };
    await (await open(location)).close();
    await (await open(location, newer)).close();
    await (await open(location, newer)).close();
    const refused = open(location);
    await expect(refused).rejects.toMatchObject({ code: "store_too_new" });
    await expect(refused).rejects.toThrow('"0002"');
  });

  it("opens a store that a newer version has only added to", async () => {
    const location = await locations.create();
    const newer: Record<string, StoreMigration> = {
      ...migrations,
      "0002": {
        up: (db) => db.schema.createTable("extra").addColumn("id", "bigint").execute(),
        isAdditive: true,
      },
    };
    await (await open(location)).close();
    await (await open(location, newer)).close();
    {
      await using older = await open(location);
      await older.db.insertInto("note").values({ id: 1, text: "from the older one", data: null }).execute();
    }
    await using again = await open(location, newer);
    expect(await again.db.selectFrom("note").select("text").execute()).toEqual([
      { text: "from the older one" },
    ]);
  });

  it("refuses a store of which it knows neither what was added nor all that it needs", async () => {
    const location = await locations.create();
    const nothing = { up: () => Promise.resolve(), isAdditive: true } satisfies StoreMigration;
    await (await open(location, { ...migrations, "0003": nothing })).close();
    const refused = open(location, { ...migrations, "0002": nothing });
    await expect(refused).rejects.toMatchObject({ code: "store_too_new" });
    await expect(refused).rejects.toThrow('"0003", but not "0002"');
  });

  it("refuses an additive migration that came with one that is not", async () => {
    const location = await locations.create();
    const nothing: StoreMigration = { up: () => Promise.resolve() };
    await (
      await open(location, { ...migrations, "0002": nothing, "0003": { ...nothing, isAdditive: true } })
    ).close();
    const refused = open(location);
    await expect(refused).rejects.toMatchObject({ code: "store_too_new" });
    await expect(refused).rejects.toThrow('the unknown migration "0002", which is not marked as additive');
  });

  it("leaves the schema as it was when a migration fails, and closes the store", async () => {
    const location = await locations.create();
    const broken: Record<string, StoreMigration> = {
      ...migrations,
      "0002": {
        up: async (db) => {
          await db.schema.createTable("half").addColumn("id", "bigint").execute();
          throw new Error("broken migration");
        },
      },
    };
    await expect(open(location, broken)).rejects.toThrow("broken migration");
    await using store = await open(location);
    const tables = await store.db.introspection.getTables();
    expect(tables.map(({ name }) => name)).not.toContain("half");
  });

  it("reports a closed store", async () => {
    const store = await open(await locations.create());
    await store.check();
    await store.close();
    await store.close();
    await expect(store.check()).rejects.toThrow(Error);
  });

  it("calls the listeners of a key, and a throwing one does not disturb the others", async () => {
    const warnings: string[] = [];
    await using store = await openStore<Tables>({
      location: await locations.create(),
      migrations,
      onWarning: (error) => warnings.push(error.message),
    });
    const heard: string[] = [];
    const removed = store.notifier.subscribe("a", () => heard.push("removed"));
    removed[Symbol.dispose]();
    using _bad = store.notifier.subscribe("a", (hint) => {
      if (hint === "notified") throw new Error("bad listener");
    });
    using _a = store.notifier.subscribe("a", (hint) => hint === "notified" && heard.push("a"));
    using _b = store.notifier.subscribe("b", (hint) => hint === "notified" && heard.push("b"));
    store.notifier.notify(["a"]);
    expect(heard).toEqual(["a"]);
    expect(warnings).toEqual(["bad listener"]);
  });
});

test.each(["", "mysql://localhost/x"])("refuses the location %j", async (location) => {
  await expect(open(location)).rejects.toMatchObject({ code: "bad_location" });
});

describe("a SQLite folder", () => {
  async function withFolder(work: (folder: string) => Promise<void>): Promise<void> {
    const folder = await mkdtemp(join(tmpdir(), "store-"));
    try {
      await work(folder);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  it("can't be a file", () =>
    withFolder(async (folder) => {
      await writeFile(join(folder, "file"), "");
      await expect(open(join(folder, "file"))).rejects.toMatchObject({ code: "bad_location" });
    }));

  it("is open in one process only, which the error names, and free again after kill -9", () =>
    withFolder(async (folder) => {
      const program = `
        const { openStore } = await import(${JSON.stringify(new URL("open-store.ts", import.meta.url).href)});
        const store = await openStore({ location: ${JSON.stringify(folder)}, migrations: {} });
        console.log("open");
        setInterval(() => {}, 1000);
      `;
      const child = spawn(process.execPath, [
        "--conditions=codexkit:source",
        "--input-type=module",
        "-e",
        program,
      ]);
      const exited = once(child, "exit");
      try {
        await once(child.stdout, "data");
        const refused = openStore({ location: folder, migrations: {} });
        await expect(refused).rejects.toMatchObject({ code: "store_locked" });
        await expect(refused).rejects.toThrow(`process ${child.pid},`);
      } finally {
        child.kill("SIGKILL");
        await exited;
      }
      await using first = await open(folder);
      await expect(open(folder)).rejects.toMatchObject({ code: "store_locked" });
      await first.check();
    }));

  it("reports a full disk, keeps what was committed, and goes on when there is space", () =>
    withFolder(async (folder) => {
      await using store = await open(folder);
      const pages = await sql<{ page_count: number }>`pragma page_count`.execute(store.db);
      const { page_count: count = 0 } = pages.rows[0] ?? {};
      await sql.raw(`pragma max_page_count = ${count + 2}`).execute(store.db);
      const insert = (id: number) =>
        store.db
          .insertInto("note")
          .values({ id, text: "x".repeat(1_000), data: null })
          .execute();
      let stored = 0;
      const fill = async (): Promise<void> => {
        for (; stored < 1_000; stored += 1) await insert(stored);
      };
      await expect(fill()).rejects.toMatchObject({ code: "store_full" });
      expect(await store.db.selectFrom("note").select("id").execute()).toHaveLength(stored);
      // SQLite rolls back by itself when it fails in the middle of a transaction.
      const large = store.db.transaction().execute(async (trx) => {
        await trx
          .insertInto("note")
          .values({ id: -1, text: "x".repeat(100_000), data: null })
          .execute();
      });
      await expect(large).rejects.toMatchObject({ code: "store_full" });
      await sql.raw("pragma max_page_count = 1000000").execute(store.db);
      await insert(stored);
    }));

  it("reports a limit of the file size as a full disk, and goes on when it is lifted", () =>
    withFolder(async (folder) => {
      const program = `
        import { execFileSync } from "node:child_process";
        import { sql } from "kysely";
        const { openStore } = await import(process.argv[1]);
        const limit = (bytes) => execFileSync("prlimit", ["--pid", process.pid, "--fsize=" + bytes + ":"]);
        await using store = await openStore({ location: process.argv[2], migrations: {} });
        await sql\`create table note (text text)\`.execute(store.db);
        const insert = () => sql\`insert into note values (\${"x".repeat(300_000)})\`.execute(store.db);
        await insert();
        limit(1_000_000);
        let code;
        for (let count = 0; count < 10 && !code; count += 1) await insert().catch((error) => (code = error.code));
        limit("unlimited");
        await insert();
        console.log(code);
      `;
      const module = new URL("open-store.ts", import.meta.url).href;
      const args = ["--conditions=codexkit:source", "--input-type=module", "-e", program, module, folder];
      const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
      expect(stdout.trim()).toBe("store_full");
      expect(await readdir(folder)).not.toContain("store.sqlite-probe");
    }));

  it("is private to its user", () =>
    withFolder(async (folder) => {
      await using _store = await open(join(folder, "new"));
      const { stdout } = await promisify(execFile)("stat", ["-c", "%a", join(folder, "new")]);
      expect(stdout.trim()).toBe("700");
    }));
});

test("a StoreError of another copy of the package is recognised", async () => {
  const copy = "./errors.ts?copy";
  const other = (await import(copy)) as { StoreError: typeof StoreError };
  const error: unknown = new other.StoreError("store_full", "full");
  expect(error instanceof StoreError).toBe(false);
  expect(StoreError.is(error)).toBe(true);
  for (const value of [undefined, null, "store_full", { code: "store_full" }, new Error("x")])
    expect(StoreError.is(value)).toBe(false);
});
