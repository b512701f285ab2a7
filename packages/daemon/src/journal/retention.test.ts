import { STORE_KINDS } from "@codexkit/store/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  allEvents,
  assertGapless,
  delta,
  ownedSession,
  useDatabases,
  warning,
} from "../../test/database-fixture.ts";
import type { NewSessionEvent, SessionEvent } from "../api/event.ts";

const ALL = { mergeAfterMs: -60_000 };

describe.each(STORE_KINDS)("retention on %s", (kind) => {
  const databases = useDatabases(kind);

  it("merges neighbouring deltas of one text, and any reader still gets every character", async () => {
    await using database = await databases.open();
    const events = fc.array(
      fc.oneof(
        {
          weight: 5,
          arbitrary: fc.record({ itemId: fc.constantFrom("a", "b"), index: fc.constantFrom(0, 1) }),
        },
        fc.constant("warning" as const),
      ),
      { maxLength: 30 },
    );
    await fc.assert(
      fc.asyncProperty(events, async (shapes) => {
        const owner = await ownedSession(database);
        const { lastSeq: before } = await database.journal.read(owner.sessionId);
        const offsets = new Map<string, number>();
        const appended = shapes.map((shape, number): NewSessionEvent => {
          if (shape === "warning") return warning(`${number}`);
          const key = `${shape.itemId} ${shape.index}`;
          const offset = offsets.get(key) ?? 0;
          const text = `<${number}>`;
          offsets.set(key, offset + text.length);
          return delta(text, offset, shape);
        });
        await database.journal.append(owner, appended);
        const original = (await allEvents(database, owner.sessionId)).slice(before);
        await database.journal.retain(ALL);
        const merged = (await allEvents(database, owner.sessionId)).slice(before);
        assertGapless(merged, before);
        expect(texts(merged)).toEqual(texts(original));
        for (const [index, event] of merged.entries()) {
          const next = merged[index + 1];
          if (event.type !== "item.delta" || next?.type !== "item.delta") continue;
          expect([event.itemId, event.index]).not.toEqual([next.itemId, next.index]);
        }
        // From the middle of a merged delta, a reader that knows the offsets finds what it lacks.
        for (const { seq } of original) {
          const rest = await database.journal.read(owner.sessionId, { after: seq });
          expect(
            continued(
              original.filter((event) => event.seq <= seq),
              rest.events,
            ),
          ).toEqual(texts(original));
        }
      }),
      { numRuns: kind === "postgres" ? 8 : 20 },
    );
  });

  it("merges a long run over several steps, and does nothing the second time", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    await database.journal.append(
      owner,
      Array.from({ length: 2_500 }, (_, offset) => delta("x", offset)),
    );
    const { merged } = await database.journal.retain(ALL);
    expect(merged).toBeGreaterThanOrEqual(2_497);
    const events = await allEvents(database, owner.sessionId);
    expect(texts(events).get("item undefined message")).toBe("x".repeat(2_500));
    expect(events.at(-1)).toMatchObject({ merged: true, seq: events.at(-1)?.seq });
    expect(await database.journal.retain(ALL)).toEqual({ merged: 0, removed: 0 });
  });

  it("leaves newer events alone", async () => {
    await using database = await databases.open();
    const owner = await ownedSession(database);
    await database.journal.append(owner, [delta("a", 0), delta("b", 1)]);
    const before = await allEvents(database, owner.sessionId);
    const kept = { mergeAfterMs: 3_600_000, maxAgeMs: 3_600_000, maxBytes: 1_000_000 };
    expect(await database.journal.retain(kept)).toEqual({ merged: 0, removed: 0 });
    expect(await allEvents(database, owner.sessionId)).toEqual(before);
  });

  it("removes events by age and by size, and says so to readers", async () => {
    await using database = await databases.open({ limits: { pageEvents: 10 } });
    const owner = await ownedSession(database);
    const { sessionId } = owner;
    const { lastSeq: start } = await database.journal.read(sessionId);
    await database.journal.append(
      owner,
      Array.from({ length: 100 }, (_, number) => warning(`${number}`.padEnd(100))),
    );
    const { removed } = await database.journal.retain({ maxBytes: 2_000 });
    const { events, gap, lastSeq } = await database.journal.read(sessionId);
    expect(lastSeq).toBe(start + 100);
    expect(gap).toEqual({ from: 1, to: removed });
    expect(events[0]?.seq).toBe(removed + 1);
    assertGapless(events, removed);
    expect(events.length).toBeGreaterThan(5);
    expect(events.length).toBeLessThan(20);

    const followed: SessionEvent[] = [];
    for await (const batch of database.journal.follow(sessionId, { after: 3 })) {
      followed.push(...batch);
      if (followed.at(-1)?.seq === lastSeq) break;
    }
    expect(followed[0]).toMatchObject({
      type: "gap",
      from: 4,
      to: removed,
      seq: removed,
      reason: "retention",
    });
    assertGapless(followed.slice(1), removed);

    await database.journal.retain({ maxAgeMs: -60_000 });
    const last = await database.journal.read(sessionId);
    expect(last.events).toMatchObject([{ seq: lastSeq }]);
    await database.journal.append(owner, [warning("next")]);
    expect(await database.journal.read(sessionId, { after: lastSeq })).toMatchObject({
      events: [{ seq: lastSeq + 1, message: "next" }],
    });
  });
});

/** The text of each item and index. */
function texts(events: readonly SessionEvent[]): Map<string, string> {
  return continued([], events);
}

/** Applies events to texts as a client does: what it has already is skipped by the offset. */
function continued(known: readonly SessionEvent[], more: readonly SessionEvent[]): Map<string, string> {
  const result = new Map<string, string>();
  for (const event of [...known, ...more]) {
    if (event.type !== "item.delta") continue;
    const key = `${event.itemId} ${event.index} ${event.kind}`;
    const text = result.get(key) ?? "";
    expect(event.offset).toBeLessThanOrEqual(text.length);
    result.set(key, text + event.delta.slice(text.length - event.offset));
  }
  return result;
}
