import type { SessionEvent } from "@codexkit/daemon/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionProjection } from "./session-projection.ts";
import { arbitraryEvents, snapshot, toHistory } from "./session.fixture.ts";

function project(events: readonly SessionEvent[]): SessionProjection {
  const projection = new SessionProjection();
  for (const event of events) projection.apply(event);
  return projection;
}

/** Splits a list at fractions of its length. */
const arbitraryCuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });

describe("the projection of a session", () => {
  it("is the same if connections repeat events that were read before", () => {
    fc.assert(
      fc.property(arbitraryEvents, arbitraryCuts, (events, cuts) => {
        const projection = new SessionProjection();
        for (const cut of [...cuts, 1].toSorted((a, b) => a - b)) {
          // Each connection starts somewhere before the place where the last one ended.
          const end = Math.round(events.length * cut);
          const start = Math.floor(Math.max(0, Math.min(projection.lastSeq, end) * cut));
          for (const event of events.slice(start, end)) projection.apply(event);
        }
        expect(snapshot(projection)).toEqual(snapshot(project(events)));
      }),
    );
  });

  it("is the same if its beginning is read from the history, whenever that was written", () => {
    fc.assert(
      fc.property(
        arbitraryEvents,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (events, startAt, readAt) => {
          // The position is read first, the history later: it has events that the stream sends again.
          const start = Math.floor(events.length * startAt);
          const read = start + Math.floor((events.length - start) * readAt);
          const { items, turns } = toHistory(events.slice(0, read));
          const projection = new SessionProjection();
          projection.lastSeq = start;
          projection.addItems(items);
          projection.addTurns(turns);
          for (const event of events.slice(start)) projection.apply(event);
          const expected = snapshot(project(events)) as { entries: { key: string }[]; turns: unknown };
          const found = snapshot(projection) as typeof expected;
          // Notices are in events only.
          const isItem = ({ key }: { key: string }): boolean => !key.startsWith("notice/");
          expect(found.entries.filter(isItem)).toEqual(expected.entries.filter(isItem));
          expect(found.turns).toEqual(expected.turns);
        },
      ),
    );
  });

  it("drops the oldest entries beyond the limit, and loads them again", () => {
    const events = Array.from({ length: 60 }, (_, index) => ({
      type: "item.completed" as const,
      threadId: "thread",
      turnId: "turn",
      item: { type: "agentMessage", id: `item-${index}`, text: `message ${index}` },
      seq: index + 1,
      epoch: 1,
      at: 0,
    })) as unknown as SessionEvent[];
    const projection = project(events);
    expect(projection.trim(20)).toHaveLength(40);
    expect(projection.entries[0]?.key).toBe("turn/item-40");
    expect(projection.hasOlder).toBe(true);
    projection.addItems(toHistory(events.slice(0, 40)).items, false);
    expect(projection.entries).toHaveLength(60);
    expect(projection.entries[0]?.key).toBe("turn/item-0");
    expect(projection.hasOlder).toBe(false);
  });

  it("marks a hole in a text, until the completed item fills it", () => {
    const base = { threadId: "thread", turnId: "turn", epoch: 1, at: 0 };
    const delta = { type: "item.delta", itemId: "a", kind: "message", ...base } as const;
    const events = [
      { type: "item.started", ...base, seq: 1, item: { type: "agentMessage", id: "a", text: "" } },
      { ...delta, seq: 2, delta: "one ", offset: 0 },
      { ...delta, seq: 3, delta: "three", offset: 8, merged: true },
    ] as unknown as SessionEvent[];
    const projection = project(events);
    expect(snapshot(projection)).toMatchObject({ entries: [{ text: "one …three" }] });
    expect(projection.item("turn/a")?.wasMerged).toBe(true);
    projection.apply({
      type: "item.completed",
      ...base,
      seq: 4,
      item: { type: "agentMessage", id: "a", text: "one two three" },
    } as unknown as SessionEvent);
    expect(snapshot(projection)).toMatchObject({ entries: [{ text: "one two three" }] });
  });
});
