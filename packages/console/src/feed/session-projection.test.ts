import type { SessionEvent } from "@codexkit/daemon/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SessionProjection } from "./session-projection.ts";
import { arbitraryEvents, snapshot, toHistory } from "./session.fixture.ts";

function project(
  events: readonly SessionEvent[],
  limits?: ConstructorParameters<typeof SessionProjection>[0],
): SessionProjection {
  const projection = new SessionProjection(limits);
  for (const event of events) projection.apply(event);
  return projection;
}

function messages(count: number, text: string): SessionEvent[] {
  return Array.from({ length: count }, (_, index) => ({
    type: "item.completed" as const,
    threadId: "thread",
    turnId: "turn",
    item: { type: "agentMessage", id: `item-${index}`, text },
    seq: index + 1,
    epoch: 1,
    at: 0,
  })) as unknown as SessionEvent[];
}

/** Splits a list at fractions of its length. */
const arbitraryCuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });

describe("the projection of a session", () => {
  it("is the same if connections repeat events that were read before", () => {
    fc.assert(
      fc.property(arbitraryEvents, arbitraryCuts, (events, cuts) => {
        const projection = new SessionProjection();
        for (const cut of [...cuts, 1].toSorted((a, b) => a - b)) {
          // Each connection starts at an event before the end of the previous one.
          const end = Math.round(events.length * cut);
          const start = Math.floor(Math.max(0, Math.min(projection.lastSeq, end) * cut));
          for (const event of events.slice(start, end)) projection.apply(event);
        }
        expect(snapshot(projection)).toEqual(snapshot(project(events)));
      }),
    );
  });

  it("is the same if its beginning is read from the history, at any time", () => {
    fc.assert(
      fc.property(
        arbitraryEvents,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (events, startAt, readAt) => {
          // The position is read before the history, so the history contains events that the stream sends again.
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
    const events = messages(60, "message");
    const projection = project(events, { entries: 20 });
    expect(projection.trim()).toHaveLength(40);
    expect(projection.hasDroppedText).toBe(false);
    expect(projection.entries[0]?.key).toBe("turn/item-40");
    expect(projection.hasOlder).toBe(true);
    projection.addItems(toHistory(events.slice(0, 40)).items, false);
    expect(projection.entries).toHaveLength(60);
    expect(projection.entries[0]?.key).toBe("turn/item-0");
    expect(projection.hasOlder).toBe(false);
  });

  it("drops the oldest entries beyond the limit of text, and counts the remaining text", () => {
    const text = "x".repeat(1_000);
    const projection = project(messages(10, text), { characters: 6_500 });
    expect(projection.isFull).toBe(true);
    projection.trim();
    expect(projection.isFull).toBe(false);
    expect(projection.hasDroppedText).toBe(true);
    expect(projection.entries.map(({ key }) => key)).toEqual(
      [5, 6, 7, 8, 9].map((index) => `turn/item-${index}`),
    );
    // Repeated events and new states of an item are not counted twice.
    for (const event of messages(10, text)) projection.apply(event);
    expect(projection.trim()).toEqual([]);
  });

  it("keeps the newest entry, even if it is very long", () => {
    const projection = project(messages(2, "x".repeat(1_000)), { characters: 100 });
    projection.trim();
    expect(projection.entries.map(({ key }) => key)).toEqual(["turn/item-1"]);
  });

  it("counts deltas", () => {
    const [first] = messages(1, "");
    const projection = project([], { characters: 1_000 });
    projection.apply({ ...first, type: "item.started" } as SessionEvent);
    const delta = { ...first, type: "item.delta", itemId: "item-0", kind: "message", offset: 0, seq: 2 };
    projection.apply({ ...delta, delta: "x".repeat(1_000) } as unknown as SessionEvent);
    expect(projection.isFull).toBe(true);
  });

  it("marks a gap in a text, until the completed item fills it", () => {
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
