// Crashes and full disks: no acknowledged event is lost, and every interrupted operation is completed or undone.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { PostgresProxy, STORE_KINDS } from "@codexkit/store/testing";
import { PostgresDisk } from "./postgres-disk.ts";
import { sql } from "kysely";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../src/database.ts";
import {
  allEvents,
  assertGapless,
  claimOne,
  delta,
  newSession,
  NODE,
  ownedSession,
  useDatabases,
  warning,
} from "./database-fixture.ts";

const PROGRAM = fileURLToPath(new URL("journal-writer-program.ts", import.meta.url));

describe.each(STORE_KINDS)("on %s", (kind) => {
  const databases = useDatabases(kind);

  it("kill -9 of a writing process loses no acknowledged event, and the next boot continues", async () => {
    const location = await databases.location();
    let sessionId = "";
    {
      await using database = await databases.open({ location });
      sessionId = (await database.sessions.insert(newSession())).session.id;
    }
    for (const boot of [1, 2]) {
      const child = spawn(process.execPath, ["--conditions=codexkit:source", PROGRAM, location, sessionId], {
        stdio: ["ignore", "pipe", "inherit"],
      });
      const exited = once(child, "exit");
      const acknowledged: number[] = [];
      for await (const line of createInterface({ input: child.stdout })) {
        acknowledged.push(Number(line));
        if (acknowledged.length === 500 * boot) child.kill("SIGKILL");
      }
      await exited;
      await using database = await databases.open({ location });
      const events = await allEvents(database, sessionId);
      const stored = new Set(events.map(({ seq }) => seq));
      expect(acknowledged.filter((seq) => !stored.has(seq))).toEqual([]);
      expect(await database.sessions.require(sessionId)).toMatchObject({
        epoch: boot,
        last_seq: events.length,
      });
    }
  });

  it("refuses a store of a newer version without changing it", async () => {
    const location = await databases.location();
    {
      await using database = await databases.open({ location });
      await sql`insert into kysely_migration (name, timestamp) values ('9999-future', '2030-01-01')`.execute(
        database.store.db,
      );
    }
    await expect(openDatabase(location)).rejects.toMatchObject({ code: "store_too_new" });
  });
});

describe("a store on SQLite", () => {
  const databases = useDatabases("sqlite");

  it("refuses a second daemon on the same folder", async () => {
    await using database = await databases.open();
    await expect(openDatabase(database.location)).rejects.toMatchObject({ code: "store_locked" });
    await database.store.check();
  });
});

describe("a full disk under SQLite", () => {
  const databases = useDatabases("sqlite");

  it("rejects an append that has waited for too long", async () => {
    await using database = await databases.open({ limits: { retryMs: 1 } });
    const owner = await ownedSession(database);
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(database.store.db);
    await sql.raw(`pragma max_page_count = ${rows[0]?.page_count ?? 0}`).execute(database.store.db);
    const held = database.journal.append(owner, [delta("x".repeat(100_000), 0)]);
    await expect(held).rejects.toMatchObject({ code: "store_full" });
    await sql.raw("pragma max_page_count = 1000000").execute(database.store.db);
    await database.journal.append(owner, [delta("y", 0)]);
  });

  it("refuses commands, holds appends back, and recovers when there is space", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(database.store.db);
    await sql.raw(`pragma max_page_count = ${(rows[0]?.page_count ?? 0) + 4}`).execute(database.store.db);
    const text = "x".repeat(5_000);
    const body = { input: text, mode: "queue" as const };
    const submit = (key: number) =>
      database.commands.submit({ sessionId, key: `${key}`, kind: "message", body, by: "tester" });
    let accepted = 0;
    const fill = async (): Promise<void> => {
      for (; accepted < 1_000; accepted += 1) await submit(accepted);
    };
    await expect(fill()).rejects.toMatchObject({ code: "store_full" });
    const held = database.journal.append(owner, [delta(text.repeat(10), 0)]);
    await expect(submit(accepted)).rejects.toMatchObject({ code: "store_full" });
    expect(await database.commands.pending(sessionId)).toHaveLength(accepted);
    await sql.raw("pragma max_page_count = 1000000").execute(database.store.db);
    const [event] = await held;
    expect((await allEvents(database, sessionId)).at(-1)).toEqual(event);
    await submit(accepted);
  });
});

describe("a full disk under Postgres", () => {
  it("refuses commands, holds appends back, and recovers when there is space", async () => {
    await using disk = await PostgresDisk.start();
    await using database = await openDatabase(await disk.server.createDatabase());
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    const submit = (key: string) =>
      database.commands.submit({ sessionId, key, kind: "interrupt", body: {}, by: "tester" });
    await submit("before");
    await disk.fill(database);
    await expect(submit("during")).rejects.toMatchObject({ code: "store_full" });
    const held = database.journal.append(owner, [delta("held back", 0)]);
    await expect(submit("during")).rejects.toMatchObject({ code: "store_full" });
    expect(database.journal.unstoredBytes).toBeGreaterThan(0);
    await disk.free();
    const [event] = await held;
    expect((await allEvents(database, sessionId)).at(-1)).toEqual(event);
    await submit("after");
    const pending = await database.commands.pending(sessionId);
    expect(pending.map(({ key }) => key)).toEqual(["before", "after"]);
  });
});

describe("a crash of Postgres", () => {
  const databases = useDatabases("postgres");

  it("delays appends and readers, and loses or repeats nothing", async () => {
    await using database = await databases.open({ limits: { connectMs: 500 } });
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    const { lastSeq: start } = await database.journal.read(sessionId);
    const appends: Promise<unknown>[] = [];
    for (let round = 0; round < 3; round += 1) {
      for (let count = 0; count < 50; count += 1) {
        appends.push(database.journal.append(owner, [warning(`${appends.length}`)]));
      }
      // Some of the appends are in a transaction at this moment.
      await appends[round * 50 + 1];
      await databases.locations.postgres.kill();
      appends.push(database.journal.append(owner, [warning(`${appends.length}`)]));
      await databases.locations.postgres.restart();
    }
    await Promise.all(appends);
    const events = (await allEvents(database, sessionId)).slice(start);
    expect(events.map((event) => event.type === "warning" && Number(event.message))).toEqual(
      Array.from({ length: appends.length }, (_, number) => number),
    );
  });

  it("stores each event once, whether the connection breaks before or after the commit", async () => {
    const location = await databases.location();
    let cut: "before" | "after" | "never" = "never";
    await using proxy = await PostgresProxy.start(location, {
      decide: ({ type, content }) => {
        // The tag of a completed command. After INSERT, the commit is never sent. After COMMIT, only its response is lost.
        const isCut = type === "C" && content.startsWith(cut === "before" ? "INSERT" : "COMMIT");
        if (cut === "never" || !isCut) return "forward";
        cut = "never";
        return "cut";
      },
    });
    await using database = await databases.open({ location: proxy.url });
    const owner = await ownedSession(database);
    const { lastSeq: start } = await database.journal.read(owner.sessionId);
    const reader = database.journal.follow(owner.sessionId, { after: start });
    for (const moment of ["before", "after", "before", "after"] as const) {
      cut = moment;
      const [event] = await database.journal.append(owner, [warning(moment)]);
      expect(cut).toBe("never");
      expect((await reader.next()).value).toEqual([event]);
    }
    await reader.return();
    expect((await allEvents(database, owner.sessionId)).slice(start)).toMatchObject([
      { message: "before" },
      { message: "after" },
      { message: "before" },
      { message: "after" },
    ]);
  });

  it("stores events once if another node takes over one of their sessions before the outcome is known", async () => {
    const location = await databases.location();
    const cut = Promise.withResolvers<void>();
    let isArmed = false;
    await using proxy = await PostgresProxy.start(location, {
      decide: ({ type, content }) => {
        if (!isArmed || type !== "C" || !content.startsWith("COMMIT")) return "forward";
        isArmed = false;
        // The outcome can't be looked up yet.
        queueMicrotask(() => {
          proxy.setMode("blackhole");
          cut.resolve();
        });
        return "cut";
      },
    });
    await using writer = await databases.open({ location: proxy.url });
    await using other = await databases.open({ location });
    const [taken, kept] = [
      await ownedSession(writer, { name: "a" }),
      await ownedSession(writer, { name: "b" }),
    ];
    isArmed = true;
    const stored = [taken, kept].map((owner) => writer.journal.append(owner, [warning("once")]));
    await cut.promise;
    const { nodeId, sessionId } = taken;
    await other.commands.submit({ sessionId, key: "key", kind: "compact", body: {}, by: "x" });
    await other.store.db.updateTable("node").set({ lease_until: 1 }).where("id", "=", nodeId).execute();
    const nodeC = await other.nodes.register({ ...NODE, name: "c" });
    await other.journal.append(await claimOne(other, nodeC, sessionId, "c"), [warning("after")]);
    proxy.setMode("pass");
    await Promise.all(stored);
    for (const owner of [taken, kept]) {
      const events = await allEvents(other, owner.sessionId);
      expect(events.filter((event) => event.type === "warning" && event.message === "once")).toHaveLength(1);
    }
  });

  it("does not end the readers of other processes, which receive every event", async () => {
    const location = await databases.location();
    await using writer = await databases.open({ location });
    await using reader = await databases.open({ location });
    const owner = await ownedSession(writer);
    const { lastSeq: after } = await writer.journal.read(owner.sessionId);
    const read = (async () => {
      const events = [];
      for await (const batch of reader.journal.follow(owner.sessionId, { after })) {
        events.push(...batch);
        if (events.length === 100) return events;
      }
      return events;
    })();
    for (let count = 0; count < 100; count += 1) {
      if (count === 50) {
        await databases.locations.postgres.kill();
        await databases.locations.postgres.restart();
      }
      await writer.journal.append(owner, [warning(`${count}`)]);
    }
    const events = await read;
    expect(events).toHaveLength(100);
    assertGapless(events, after);
  });

  it("allows a new owner to take over after the outage, and fences the former owner", async () => {
    const location = await databases.location();
    await using former = await databases.open({ location });
    await using next = await databases.open({ location });
    const owner = await ownedSession(former);
    await databases.locations.postgres.kill();
    const late = former.journal.append(owner, [warning("late")]).catch((error: unknown) => error);
    await databases.locations.postgres.restart();
    const outcome = await late;
    await claimOne(next, await next.nodes.register(NODE), owner.sessionId);
    await expect(former.journal.append(owner, [warning("too late")])).rejects.toMatchObject({
      code: "fenced",
    });
    const events = await allEvents(next, owner.sessionId);
    expect(outcome).toMatchObject([{ message: "late" }]);
    expect(events.slice(-2)).toMatchObject([{ message: "late" }, { type: "session.moved" }]);
  });
});
