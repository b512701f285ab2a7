import { STORE_KINDS } from "@codexkit/store/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newSession, ownedSession, useDatabases } from "../../test/database-fixture.ts";
import type { Database } from "../database.ts";
import type { Ownership } from "../database/ownership.ts";
import type { RolloutChunk } from "./rollout-store.ts";

describe.each(STORE_KINDS)("rollouts on %s", (kind) => {
  const databases = useDatabases(kind);

  const append = (
    database: Database,
    owner: Ownership,
    chunk: Partial<RolloutChunk> & Pick<RolloutChunk, "atByte" | "data">,
  ) =>
    database.journal.append(owner, [], (trx) =>
      database.rollouts.append(trx, owner, {
        rolloutId: "file",
        path: "sessions/file.jsonl",
        role: "main",
        ...chunk,
      }),
    );

  it("return the bytes of a file, however it was sent, compacted and truncated", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    let files = 0;
    const step = fc.oneof(
      fc.record({ kind: fc.constant("append" as const), size: fc.nat(300), overlap: fc.nat(50) }),
      fc.constant({ kind: "compact" as const }),
      fc.record({
        kind: fc.constant("truncate" as const),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        files += 1;
        const rolloutId = `file ${files}`;
        let expected = Buffer.alloc(0);
        for (const [number, action] of steps.entries()) {
          if (action.kind === "append") {
            const added = Buffer.alloc(action.size, number + 1);
            const overlap = Math.min(action.overlap, expected.length);
            const atByte = expected.length - overlap;
            expected = Buffer.concat([expected, added]);
            await append(database, owner, { rolloutId, atByte, data: expected.subarray(atByte) });
          } else if (action.kind === "compact") {
            await database.rollouts.compact(rolloutId);
          } else {
            expected = expected.subarray(0, Math.floor(expected.length * action.share));
            await database.journal.append(owner, [], (trx) =>
              database.rollouts.truncate(trx, rolloutId, expected.length),
            );
          }
        }
        expect(Buffer.from((await database.rollouts.read(rolloutId)) ?? [])).toEqual(expected);
        expect(await database.rollouts.storedBytes(rolloutId)).toBe(expected.length);
      }),
      { numRuns: kind === "postgres" ? 15 : 40 },
    );
  });

  it("refuse a hole, and store nothing of the transaction with it", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    await append(database, owner, { atByte: 0, data: Buffer.from("abc") });
    const hole = append(database, owner, { atByte: 5, data: Buffer.from("x") });
    await expect(hole).rejects.toMatchObject({ code: "rollout_mismatch" });
    expect(Buffer.from((await database.rollouts.read("file")) ?? []).toString()).toBe("abc");
  });

  it("of a fork include the files that it refers to, until nothing needs them", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    await append(database, owner, {
      rolloutId: "root",
      path: "root.jsonl",
      atByte: 0,
      data: Buffer.from("r"),
    });
    await append(database, owner, {
      rolloutId: "mid",
      path: "mid.jsonl",
      baseId: "root",
      atByte: 0,
      data: Buffer.from("m"),
    });
    const { session } = await database.sessions.insert(newSession({ id: "fork", threadId: "forked" }));
    const key = { sessionId: session.id, key: "1", kind: "compact" as const, body: {}, by: "x" };
    await database.commands.submit(key);
    const [fork] = await database.sessions.claim({
      nodeId: owner.nodeId,
      name: "here",
      limit: 5,
      labels: [],
      codexVersion: "1",
    });
    if (!fork) throw new Error("The fork was not claimed.");
    await append(database, fork, {
      rolloutId: "leaf",
      path: "leaf.jsonl",
      baseId: "mid",
      atByte: 0,
      data: Buffer.from("l"),
    });
    const lineage = await database.rollouts.lineage("fork");
    expect(lineage.map(({ id, role }) => `${role} ${id}`).toSorted()).toEqual([
      "base mid",
      "base root",
      "main leaf",
    ]);
    await database.sessions.update(owner, { phase: "deleted" }, [{ type: "session.deleted" }]);
    await database.sessions.purge(owner.sessionId);
    expect(await database.rollouts.lineage("fork")).toHaveLength(3);
    await database.sessions.update(fork, { phase: "deleted" }, [{ type: "session.deleted" }]);
    await database.sessions.purge("fork");
    for (const id of ["root", "mid", "leaf"]) expect(await database.rollouts.read(id)).toBeUndefined();
    expect(await database.store.db.selectFrom("rollout_chunk").selectAll().execute()).toEqual([]);
  });

  it("are compressed when their sessions have been idle for a while", async () => {
    const location = await databases.location();
    {
      await using database = await databases.open({ location });
      const owner = await ownedSession(database);
      await append(database, owner, { atByte: 0, data: Buffer.from("abc") });
      await append(database, owner, { atByte: 3, data: Buffer.from("def") });
      expect(await database.rollouts.compactIdle()).toBe(0);
    }
    await using database = await databases.open({ location, limits: { compactAfterMs: -60_000 } });
    expect(await database.rollouts.compactIdle()).toBe(1);
    expect(await database.rollouts.compactIdle()).toBe(0);
    expect(await database.store.db.selectFrom("rollout_chunk").selectAll().execute()).toEqual([]);
    expect(Buffer.from((await database.rollouts.read("file")) ?? []).toString()).toBe("abcdef");
    await database.rollouts.compact("unknown");
  });

  it("lose nothing when they are compressed by two nodes and continued at the same time", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    let expected = "";
    for (let round = 0; round < 30; round += 1) {
      const data = Buffer.from(`line ${round}\n`.repeat(200));
      const atByte = expected.length;
      expected += data.toString();
      await Promise.all([
        database.rollouts.compact("file"),
        append(database, owner, { atByte, data }),
        database.rollouts.compact("file"),
      ]);
      expect(Buffer.from((await database.rollouts.read("file")) ?? []).toString()).toBe(expected);
    }
    await database.rollouts.compact("file");
    expect(await database.store.db.selectFrom("rollout_chunk").selectAll().execute()).toEqual([]);
  });

  it("beyond the limit are not stored any further, and their session stays on its node", async () => {
    await using database = await databases.open({ limits: { rolloutBytes: 10 } });
    const owner = await ownedSession(database);
    await append(database, owner, { atByte: 0, data: Buffer.from("12345678") });
    expect((await database.sessions.get(owner.sessionId))?.needs).toBe("[]");
    await append(database, owner, { atByte: 8, data: Buffer.from("90x") });
    expect((await database.sessions.get(owner.sessionId))?.needs).toBe('["node:here"]');
    // The shipper may send more before it knows.
    await append(database, owner, { atByte: 11, data: Buffer.from("y") });
    await expect(database.rollouts.read("file")).rejects.toMatchObject({ code: "rollout_too_large" });
    expect(await database.rollouts.storedBytes("file")).toBe(8);
  });

  it("are whole if they are within the limit and have the expected length", async () => {
    await using database = await databases.open({ limits: { rolloutBytes: 10 } });
    const owner = await ownedSession(database);
    await append(database, owner, { atByte: 0, data: Buffer.from("12345678") });
    const requireWhole = (length: number): Promise<void> =>
      database.rollouts.requireWhole(owner.sessionId, new Map([["file", length]]));
    await requireWhole(8);
    await expect(requireWhole(9)).rejects.toMatchObject({ code: "rollout_mismatch" });
    await append(database, owner, { atByte: 8, data: Buffer.from("90x") });
    await expect(requireWhole(8)).rejects.toMatchObject({ code: "rollout_too_large" });
  });
});
