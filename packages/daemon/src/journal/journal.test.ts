import { setImmediate as nextRound } from "node:timers/promises";
import { STORE_KINDS } from "@codexkit/store/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allEvents,
  assertGapless,
  claimOne,
  delta,
  NODE,
  ownedSession,
  useDatabases,
  warning,
} from "../../test/database-fixture.ts";
import type { NewSessionEvent, SessionEvent } from "../api/event.ts";
import type { Ownership } from "../database/ownership.ts";

describe.each(STORE_KINDS)("the journal on %s", (kind) => {
  const databases = useDatabases(kind);

  it("returns events exactly as they were appended, numbered", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const events: NewSessionEvent[] = [
      { type: "turn.started", threadId: "thread", turnId: "turn" },
      { type: "item.started", threadId: "thread", turnId: "turn", item: message("") },
      delta("a \u0000 \ud800 🦀", 0, { index: 3 }),
      { type: "item.completed", threadId: "thread", turnId: "turn", item: message("text") },
      warning("quote ' and \\ backslash"),
      { type: "unknown", raw: { method: "new/thing", params: { itemId: null, turnId: 7 } } },
    ];
    const appended = await database.journal.append(owner, events);
    const read = (await allEvents(database, owner.sessionId)).slice(-events.length);
    expect(read).toEqual(appended);
    expect(read.map(({ seq: _seq, epoch: _epoch, at: _at, ...event }) => event)).toEqual(events);
    expect(read.every(({ epoch, at }) => epoch === owner.epoch && at > 0)).toBe(true);
  });

  it("keeps events of several sessions apart that are stored in one transaction", async () => {
    await using database = await databases.open();
    const owners = [await ownedSession(database), await ownedSession(database, { name: "there" })];
    const texts = ["a", "b", "c"];
    await Promise.all(
      owners.map((owner, index) =>
        database.journal.append(
          owner,
          texts.map((text) => warning(`${text}${index}`)),
        ),
      ),
    );
    for (const [index, owner] of owners.entries()) {
      const events = await allEvents(database, owner.sessionId);
      assertGapless(events);
      const messages = events.flatMap((event) => (event.type === "warning" ? [event.message] : []));
      expect(messages).toEqual(texts.map((text) => `${text}${index}`));
    }
  });

  it("ends pages of large events early, and skips none", async () => {
    await using database = await databases.open({ limits: { pageBytes: 10_000 } });
    const owner = await ownedSession(database);
    const start = (await allEvents(database, owner.sessionId)).length;
    const sizes = [4000, 4000, 4000, 30_000, 10, 20];
    await database.journal.append(
      owner,
      sizes.map((size, index) => delta("x".repeat(size), index)),
    );
    const pages: number[] = [];
    for (let after = start; ;) {
      const { events, lastSeq } = await database.journal.read(owner.sessionId, { after, limit: 100 });
      pages.push(events.length);
      after = events.at(-1)?.seq ?? after;
      if (after === lastSeq) break;
    }
    expect(pages).toEqual([2, 1, 1, 2]);
    expect(await allEvents(database, owner.sessionId)).toHaveLength(start + sizes.length);
  });

  it("lets others work while a reader catches up", async () => {
    await using database = await databases.open({ limits: { pageEvents: 1, tailBytes: 0 } });
    const owner = await ownedSession(database);
    await database.journal.append(
      owner,
      Array.from({ length: 50 }, (_, index) => delta("x", index)),
    );
    const { lastSeq } = await database.journal.read(owner.sessionId);
    let [rounds, pages] = [0, 0];
    let turn = setImmediate(function count() {
      rounds += 1;
      turn = setImmediate(count);
    });
    for await (const events of database.journal.follow(owner.sessionId)) {
      pages += 1;
      if (events.at(-1)?.seq === lastSeq) break;
    }
    clearImmediate(turn);
    expect(pages).toBeGreaterThanOrEqual(50);
    expect(rounds).toBeGreaterThanOrEqual(pages - 1);
  });

  it("stores events in the order of the calls, with and without waiting, and rejects nothing", async () => {
    await using database = await databases.open();
    const owners = [await ownedSession(database, { name: "a" }), await ownedSession(database, { name: "b" })];
    const appends: Promise<unknown>[] = [];
    for (let round = 0; round < 200; round += 1) {
      for (const owner of owners) {
        const also = round % 50 === 0 ? async () => {} : undefined;
        appends.push(database.journal.append(owner, [delta(`${round};`, round)], also));
      }
      if (round % 30 === 0) await nextRound();
    }
    await Promise.all(appends);
    expect(database.journal.unstoredBytes).toBe(0);
    for (const owner of owners) {
      const events = await allEvents(database, owner.sessionId);
      expect(textOf(events)).toBe(Array.from({ length: 200 }, (_, round) => `${round};`).join(""));
    }
  });

  it("stores enqueued events in order with appended ones, and reports their failure", async () => {
    await using database = await databases.open({ limits: { flushBytes: 500 } });
    const owner = await ownedSession(database);
    const failures: unknown[] = [];
    const onError = (error: unknown): void => void failures.push(error);
    const expected: string[] = [];
    let also = 0;
    for (let round = 0; round < 100; round += 1) {
      expected.push(`${round};`);
      const event = delta(`${round};`, round);
      if (round % 20 === 19) await database.journal.append(owner, [event]);
      else if (round % 7 === 6) {
        const count = async (): Promise<void> => void (also += 1);
        database.journal.enqueue(owner, [event], { also: count, onError });
      } else database.journal.enqueue(owner, [event], { onError });
    }
    expect(textOf(await allEvents(database, owner.sessionId))).toBe(expected.join(""));
    expect(also).toBeGreaterThan(0);
    expect(failures).toEqual([]);
    const nodeId = await database.nodes.register(NODE);
    await claimOne(database, nodeId, owner.sessionId);
    const failed = Promise.withResolvers<unknown>();
    for (const text of ["a", "b"]) {
      database.journal.enqueue(owner, [delta(text, 100)], { onError: failed.resolve });
    }
    expect(await failed.promise).toMatchObject({ code: "fenced" });
  });

  it("rejects a write that fails without disturbing those that are stored with it", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const other = await ownedSession(database, { name: "other" });
    const before = (await allEvents(database, owner.sessionId)).length;
    const results = await Promise.allSettled([
      database.journal.append(owner, [warning("1")]),
      database.journal.append(owner, [warning("2")], async (trx) => {
        await trx
          .insertInto("tenant")
          .values({ id: "t", max_active: null, max_waiting: null, weight: 1 })
          .execute();
        throw new Error("no");
      }),
      database.journal.append(other, [warning("3")]),
      database.journal.append(owner, [warning("4")]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    const stored = (await allEvents(database, owner.sessionId)).slice(before);
    expect(stored).toMatchObject([{ message: "1" }, { message: "4" }]);
    expect(await database.store.db.selectFrom("tenant").selectAll().execute()).toEqual([]);
  });

  it("fences an owner whose session was taken over, and not its other sessions", async () => {
    await using database = await databases.open();
    const lost = await ownedSession(database);
    const kept = await ownedSession(database, { name: "other" });
    const nodeId = await database.nodes.register(NODE);
    const taken = await claimOne(database, nodeId, lost.sessionId);
    expect(taken).toMatchObject({ epoch: lost.epoch + 1, reason: "restart" });
    const results = await Promise.allSettled([
      database.journal.append(lost, [warning("late")]),
      database.journal.append(kept, [warning("kept")]),
      database.journal.append(taken, [warning("new")]),
    ]);
    expect(results).toMatchObject([
      { status: "rejected", reason: { code: "fenced" } },
      { status: "fulfilled" },
      { status: "fulfilled" },
    ]);
    const events = await allEvents(database, lost.sessionId);
    expect(events.slice(-2)).toMatchObject([
      { type: "session.moved", from: "here", to: "here", reason: "restart", epoch: taken.epoch },
      { message: "new", epoch: taken.epoch },
    ]);
  });

  it("has no gaps and no falling epochs, however appends race with takeovers and clients", async () => {
    await using first = await databases.open();
    // On Postgres the second node has connections of its own.
    const second = kind === "postgres" ? await databases.open({ location: first.location }) : first;
    await using _second = second === first ? undefined : second;
    const nodes = [first, second];
    const steps = fc.array(fc.constantFrom("append", "append", "append", "claim", "submit"), {
      minLength: 5,
      maxLength: 20,
    });
    let appended = 0;
    let fenced = 0;
    let submitted = 0;
    await fc.assert(
      fc.asyncProperty(steps, steps, async (...scripts) => {
        const { sessionId } = await ownedSession(first);
        const acknowledged: number[] = [];
        const run = async (database: typeof first, script: readonly string[]): Promise<void> => {
          let owner: Ownership | undefined;
          for (const step of ["claim", ...script]) {
            if (step === "claim") {
              const nodeId = await database.nodes.register(NODE);
              const claimed = await database.sessions.claim({ ...NODE, nodeId, limit: 10, labels: [] });
              owner = claimed.find((session) => session.sessionId === sessionId) ?? owner;
            } else if (step === "submit") {
              submitted += 1;
              const key = `${submitted}`;
              await database.commands.submit({ sessionId, key, kind: "interrupt", body: {}, by: "x" });
            } else if (owner) {
              const stored = await database.journal
                .append(owner, [warning("a"), warning("b")])
                .catch((error: { code: string }) => {
                  if (error.code !== "fenced") throw error;
                  fenced += 1;
                  return [];
                });
              appended += stored.length;
              acknowledged.push(...stored.map(({ seq }) => seq));
            }
          }
        };
        await Promise.all(scripts.map((script, index) => run(nodes[index] as typeof first, script)));
        const events = await allEvents(first, sessionId);
        const epochs = events.map(({ epoch }) => epoch);
        expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
        expect(new Set(acknowledged).size).toBe(acknowledged.length);
        const warnings = events.filter(({ type }) => type === "warning").map(({ seq }) => seq);
        expect(warnings).toEqual(acknowledged.toSorted((a, b) => a - b));
      }),
      { numRuns: kind === "postgres" ? 15 : 25 },
    );
    expect(appended).toBeGreaterThan(0);
    expect(fenced).toBeGreaterThan(0);
  });

  it("replays, then follows, without repetition, from any cursor", async () => {
    await using database = await databases.open({ limits: { tailBytes: 1_000, pageEvents: 7 } });
    const owner = await ownedSession(database);
    const before = (await allEvents(database, owner.sessionId)).length;
    await database.journal.append(
      owner,
      Array.from({ length: 50 }, (_, at) => delta("x", at)),
    );
    const total = before + 100;
    const readers = [0, 3, before, before + 25, before + 50].map(async (after) => {
      const events: SessionEvent[] = [];
      for await (const batch of database.journal.follow(owner.sessionId, { after })) {
        events.push(...batch);
        if (events.at(-1)?.seq === total) break;
      }
      assertGapless(events, after);
      return events.length + after;
    });
    for (let at = 50; at < 100; at += 1) await database.journal.append(owner, [delta("y", at)]);
    expect(await Promise.all(readers)).toEqual(Array.from({ length: 5 }, () => total));
  });

  it("gives a reader that stalls across 40,000 events all of them", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { lastSeq } = await database.journal.read(owner.sessionId);
    const reader = database.journal.follow(owner.sessionId, { after: lastSeq });
    const first = reader.next();
    for (let at = 0; at < 40_000; at += 500) {
      await database.journal.append(
        owner,
        Array.from({ length: 500 }, (_, index) => delta("z", at + index)),
      );
    }
    const { value } = await first;
    const events = [...(value ?? [])];
    while (events.length < 40_000) events.push(...((await reader.next()).value ?? []));
    await reader.return();
    expect(events).toHaveLength(40_000);
    assertGapless(events, lastSeq);
  });

  it("gives readers at the same position the same batch", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    const { lastSeq: after } = await database.journal.read(owner.sessionId);
    const readers = [1, 2, 3].map(() => database.journal.followBatches(owner.sessionId, { after }));
    const nexts = readers.map((reader) => reader.next());
    // The feed exists when one of its readers waits.
    await nextRound();
    await database.journal.append(owner, [warning("x")]);
    const batches = await Promise.all(nexts);
    await Promise.all(readers.map((reader) => reader.return()));
    expect(batches[0]?.value?.events).toMatchObject([{ message: "x" }]);
    expect(new Set(batches.map(({ value }) => value)).size).toBe(1);
  });

  it("ends a reader on abort, after the deletion, and when the database is closed", async () => {
    const database = await databases.open();
    const owner = await ownedSession(database);
    const { lastSeq: after } = await database.journal.read(owner.sessionId);
    const abort = new AbortController();
    const aborted = database.journal.follow(owner.sessionId, { after, signal: abort.signal }).next();
    const deleted = Array.fromAsync(database.journal.follow(owner.sessionId, { after }));
    abort.abort();
    expect(await aborted).toEqual({ value: undefined, done: true });
    await database.journal.append(owner, [{ type: "session.deleted" }]);
    expect((await deleted).flat()).toMatchObject([{ type: "session.deleted" }]);
    const other = await ownedSession(database, { name: "other" });
    const { lastSeq } = await database.journal.read(other.sessionId);
    const closed = database.journal.follow(other.sessionId, { after: lastSeq }).next();
    await nextRound();
    await database.close();
    expect(await closed).toEqual({ value: undefined, done: true });
    await expect(database.journal.append(other, [warning("late")])).rejects.toMatchObject({ code: "closed" });
  });

  it("rejects a cursor from the future and an unknown session", async () => {
    await using database = await databases.open();
    const { sessionId } = await ownedSession(database);
    for (const after of [1_000, -1, 0.5]) {
      await expect(database.journal.read(sessionId, { after })).rejects.toMatchObject({
        code: "invalid_cursor",
      });
      await expect(database.journal.follow(sessionId, { after }).next()).rejects.toMatchObject({
        code: "invalid_cursor",
      });
    }
    await expect(database.journal.read("unknown")).rejects.toMatchObject({ code: "session_not_found" });
    await expect(database.journal.follow("unknown").next()).rejects.toMatchObject({
      code: "session_not_found",
    });
  });

  it("lets callers that don't wait for the commit wait for capacity", async () => {
    await using database = await databases.open({ limits: { maxUnstoredBytes: 10_000 } });
    const owner = await ownedSession(database);
    await database.journal.waitForCapacity();
    const appended = database.journal.append(owner, [delta("x".repeat(20_000), 0)]);
    const aborted = new AbortController();
    const waiting = database.journal.waitForCapacity(aborted.signal);
    aborted.abort(new Error("stop"));
    await expect(waiting).rejects.toThrow("stop");
    await database.journal.waitForCapacity();
    expect(database.journal.unstoredBytes).toBe(0);
    await appended;
  });

  it("lets events wait for others, and stores them with the end of a turn or when they are many", async () => {
    await using database = await databases.open({ limits: { flushMs: 3_600_000, flushBytes: 10_000 } });
    const owner = await ownedSession(database);
    const small = database.journal.append(owner, [warning("waits"), delta("a", 0)]);
    for (let round = 0; round < 5; round += 1) await nextRound();
    expect(database.journal.unstoredBytes).toBeGreaterThan(0);
    const end = { threadId: "thread", turnId: "turn", result: {} as never };
    await database.journal.append(owner, [{ type: "turn.interrupted", ...end }]);
    await small;
    const next = database.journal.append(owner, [delta("b", 1)]);
    await database.journal.append(owner, [delta("c".repeat(20_000), 2)]);
    await next;
    expect(textOf(await allEvents(database, owner.sessionId))).toBe(`ab${"c".repeat(20_000)}`);
  });

  it("splits what is waiting into transactions of a limited size", async () => {
    await using database = await databases.open({ limits: { transactionBytes: 1_000 } });
    const owner = await ownedSession(database);
    const transactions = new Set<unknown>();
    const appends = Array.from({ length: 20 }, (_, number) =>
      database.journal.append(owner, [warning(`${number}`.padEnd(300))], async (trx) => {
        transactions.add(trx);
      }),
    );
    await Promise.all(appends);
    expect(transactions.size).toBeGreaterThanOrEqual(6);
    expect(transactions.size).toBeLessThan(20);
    await allEvents(database, owner.sessionId);
  });

  it("stores what was appended before it is closed", async () => {
    const location = await databases.location();
    const database = await databases.open({ location });
    const owner = await ownedSession(database);
    const appended = database.journal.append(owner, [delta("last", 0)]);
    await database.close();
    await appended;
    await using again = await databases.open({ location });
    expect((await allEvents(again, owner.sessionId)).at(-1)).toMatchObject({ delta: "last" });
  });
});

function message(text: string) {
  return {
    type: "agentMessage" as const,
    id: "item",
    text,
    phase: null,
    memoryCitation: null,
    delivery: null,
    questions: null,
  };
}

function textOf(events: readonly SessionEvent[]): string {
  return events.map((event) => (event.type === "item.delta" ? event.delta : "")).join("");
}
