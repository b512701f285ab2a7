import type { SessionEvent } from "@codexkit/daemon/client";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ItemRecord, textOf } from "./item-record.ts";
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

/**
 * Loads the history of a session whose newest event is `known`. The history is read after that, when there are `read` events, and
 * the stream starts at `start`.
 */
function load(
  events: readonly SessionEvent[],
  { start, known, read }: { readonly start: number; readonly known: number; readonly read: number },
): SessionProjection {
  const { items, turns } = toHistory(events.slice(0, read));
  const projection = new SessionProjection();
  projection.lastSeq = start;
  projection.historySeq = known;
  projection.addItems(items);
  projection.addTurns(turns);
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
        fc.double({ min: 0, max: 1, noNaN: true }),
        (events, startAt, knownAt, readAt) => {
          // The position is read before the history, so the history contains events that the stream sends again.
          const start = Math.floor(events.length * startAt);
          const known = start + Math.floor((events.length - start) * knownAt);
          let read = known + Math.floor((events.length - known) * readAt);
          let projection = load(events, { start, known, read });
          for (const event of events.slice(start)) projection.apply(event);
          if (projection.isOutdated) {
            // The page reads the history again.
            read = events.length;
            projection = load(events, { start, known: read, read });
            for (const event of events.slice(start)) projection.apply(event);
          }
          expect(projection.isOutdated).toBe(false);
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

  it("counts the files and lines of a turn's diff", () => {
    const base = { threadId: "thread", turnId: "turn", epoch: 1, at: 0 };
    const diff =
      "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,3 @@\n-one\n+two\n+three\n keep\ndiff --git a/b b/b\n+++ b/b\n+four";
    const projection = project([
      { type: "turn.started", ...base, seq: 1 },
      { type: "diff.updated", ...base, seq: 2, diff },
      { type: "turn.completed", ...base, seq: 3, result: {} },
    ] as unknown as SessionEvent[]);
    expect(projection.turns[0]?.diffStat).toEqual({ files: 2, added: 3, removed: 1 });
  });

  it("keeps the beginning and the end of the output of a running command", () => {
    const base = { threadId: "thread", turnId: "turn", epoch: 1, at: 0 };
    const projection = project([
      { type: "item.started", ...base, seq: 1, item: { type: "commandExecution", id: "a", command: "yes" } },
    ] as unknown as SessionEvent[]);
    const delta = "0123456789abcde\n".repeat(1_024);
    for (let index = 0; index < 100; index += 1) {
      projection.apply({
        type: "item.delta",
        ...base,
        seq: index + 2,
        itemId: "a",
        kind: "command_output",
        delta: index === 99 ? `${delta}the end` : delta,
        offset: index * delta.length,
      } as unknown as SessionEvent);
    }
    const text = textOf(projection.item("turn/a") as ItemRecord);
    expect(text.length).toBeLessThan(300_000);
    expect(text.startsWith("0123456789abcde\n")).toBe(true);
    expect(text.endsWith("the end")).toBe(true);
    projection.trim();
    expect(projection.isFull).toBe(false);
  });

  it("does not bring back a reverted turn, whether the revert or the history is read first", () => {
    const base = { threadId: "thread", turnId: "turn", epoch: 1, at: 0 };
    const events = [
      { type: "turn.started", ...base, seq: 1 },
      { type: "item.completed", ...base, seq: 2, item: { type: "agentMessage", id: "a", text: "one" } },
      { type: "item.completed", ...base, seq: 3, item: { type: "agentMessage", id: "b", text: "two" } },
      { type: "turn.completed", ...base, seq: 4, result: {} },
      { type: "warning", epoch: 1, at: 0, seq: 5, message: "careful" },
      { type: "session.updated", epoch: 1, at: 0, seq: 6, changes: { revertedBefore: "turn" } },
    ] as unknown as SessionEvent[];
    for (const known of [2, 3, 4, 6]) {
      for (const read of [known, 6]) {
        let projection = load(events, { start: 2, known, read });
        for (const event of events.slice(2)) projection.apply(event);
        if (projection.isOutdated) {
          projection = load(events, { start: 2, known: 6, read: 6 });
          for (const event of events.slice(2)) projection.apply(event);
        }
        expect(projection.entries.map(({ key }) => key)).toEqual(["notice/6"]);
        expect(projection.turns).toEqual([]);
      }
    }
  });

  it("takes flags, notices and the usage of a turn from events before the history", () => {
    const base = { threadId: "thread", turnId: "turn", epoch: 1, at: 0 };
    const message = { type: "agentMessage", id: "a", text: "one" };
    const events = [
      { type: "turn.started", ...base, seq: 1 },
      { type: "item.completed", ...base, seq: 2, item: message, recovered: true },
      { type: "usage.updated", ...base, seq: 3, usage: { totalTokens: 7 }, total: null, contextWindow: 9 },
      { type: "warning", ...base, seq: 4, message: "careful" },
    ] as unknown as SessionEvent[];
    const projection = load(events, { start: 0, known: 4, read: 4 });
    for (const event of events) projection.apply(event);
    expect(projection.item("turn/a")?.wasRecovered).toBe(true);
    expect(projection.usage).toMatchObject({ turn: { totalTokens: 7 }, contextWindow: 9 });
    expect(projection.entries.map(({ key }) => key)).toEqual(["turn/a", "notice/4"]);
  });

  it("takes the flags of items that the history contains already", () => {
    const base = { threadId: "thread", turnId: "turn", epoch: 1, at: 0 };
    const message = { type: "agentMessage", id: "a", text: "one" };
    const delta = { type: "item.delta", itemId: "a", kind: "message", delta: "one", offset: 0 };
    const events = [
      { type: "turn.started", ...base, seq: 1 },
      { type: "item.started", ...base, seq: 2, item: { ...message, text: "" } },
      { ...delta, ...base, seq: 3, merged: true },
      { type: "item.completed", ...base, seq: 4, item: message, recovered: true },
    ] as unknown as SessionEvent[];
    // The list is read after none or all of the events that the session's position includes.
    for (const known of [1, 2, 3, 4]) {
      const projection = load(events, { start: 0, known, read: 4 });
      projection.takeChanges();
      for (const event of events) projection.apply(event);
      expect(projection.item("turn/a")).toMatchObject({ wasRecovered: true, wasMerged: true });
      // The row was on screen without them.
      expect([...projection.takeChanges().items]).toEqual(["turn/a"]);
    }
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
