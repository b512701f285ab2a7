import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { command, message } from "../../test/notices.ts";
import { EventQueue } from "./event-queue.ts";
import type { CodexEvent, DeltaKind, ItemDeltaEvent } from "./event.ts";

const PLACE = { threadId: "thread", turnId: "turn" } as const;

function delta(itemId: string, text: string, more: Partial<ItemDeltaEvent> = {}): ItemDeltaEvent {
  return { type: "item.delta", ...PLACE, itemId, kind: "message", delta: text, ...more };
}

function started(itemId: string): CodexEvent {
  return { type: "item.started", ...PLACE, item: message(itemId, "") };
}

function completed(itemId: string): CodexEvent {
  return { type: "item.completed", ...PLACE, item: message(itemId, "") };
}

function notice(text: string): CodexEvent {
  return { type: "warning", kind: "server", message: text };
}

function queueOf(
  events: readonly CodexEvent[],
  limits?: ConstructorParameters<typeof EventQueue>[0],
): EventQueue {
  const queue = new EventQueue(limits);
  for (const event of events) queue.push(event);
  return queue;
}

/** Enough unread events for deltas to be merged across other events. */
function crowd(): CodexEvent[] {
  return Array.from({ length: 300 }, (_, index) => notice(`crowd ${index}`));
}

describe("EventQueue", () => {
  it("merges adjacent deltas of the same text", () => {
    const queue = queueOf([delta("a", "He"), delta("a", "l"), delta("a", "lo")]);
    expect(queue.takeAll()).toEqual([delta("a", "Hello")]);
    expect(queue.size).toBe(0);
    expect(queue.takeAll()).toEqual([]);
  });

  it.each<[string, ItemDeltaEvent]>([
    ["item", delta("b", "2")],
    ["kind", delta("a", "2", { kind: "plan" })],
    ["index", delta("a", "2", { index: 1 })],
    ["turn", delta("a", "2", { turnId: "other" })],
    ["thread with an item of the same id", delta("a", "2", { threadId: "other" })],
  ])("never merges deltas of another %s", (_, other) => {
    expect(queueOf([delta("a", "1"), other, delta("a", "3")]).takeAll()).toHaveLength(3);
    const crowded = queueOf([...crowd(), delta("a", "1"), other, delta("a", "3")]).takeAll();
    expect(crowded.slice(300)).toEqual([delta("a", "13"), other]);
  });

  it("separates merged progress messages of a tool", () => {
    const kind = "tool_progress";
    const queue = queueOf([delta("a", "1 of 2", { kind }), delta("a", "2 of 2", { kind })]);
    expect(queue.takeAll()).toEqual([delta("a", "1 of 2\n2 of 2", { kind })]);
  });

  it("merges across other events only if many are unread", () => {
    const events = [delta("a", "1"), notice("between"), delta("a", "2")];
    expect(queueOf(events).takeAll()).toEqual(events);
    expect(
      queueOf([...crowd(), ...events])
        .takeAll()
        .slice(300),
    ).toEqual([delta("a", "12"), notice("between")]);
  });

  it.each<[string, CodexEvent]>([
    ["its completion", completed("a")],
    ["its start", started("a")],
    [
      "a request about it",
      {
        type: "approval.resolved",
        ...PLACE,
        itemId: "a",
        requestId: 1,
        kind: "command",
        outcome: { by: "default" },
      },
    ],
    [
      "an unknown event about it",
      { type: "unknown", ...PLACE, raw: { method: "item/new", params: { itemId: "a" } } },
    ],
    ["the end of its turn", { type: "turn.interrupted", ...PLACE, result: {} as never }],
  ])("never moves a delta of an item before %s", (_, between) => {
    const events = [delta("a", "1"), between, delta("a", "2")];
    expect(
      queueOf([...crowd(), ...events])
        .takeAll()
        .slice(300),
    ).toEqual(events);
  });

  it("does not change an event that is also in another queue", () => {
    const first = delta("a", "1");
    const queue = queueOf([first]);
    const copy = queue.copy();
    copy.push(delta("a", "2"));
    expect(copy.takeAll()).toEqual([delta("a", "12")]);
    expect(queue.takeAll()).toEqual([delta("a", "1")]);
    expect(first.delta).toBe("1");
  });

  it("reports the number of dropped events in a warning, also in a copy and while more are dropped", () => {
    const limits = { events: 10, deltaCharacters: 100 };
    const queue = queueOf(
      Array.from({ length: 1_000 }, (_, index) => notice(`${index}`)),
      limits,
    );
    const copy = queue.copy();
    copy.push(notice("1000"));
    for (const [events, dropped] of [
      [queue.takeAll(), 990],
      [copy.takeAll(), 991],
    ] as const) {
      expect(events).toHaveLength(11);
      expect(events[0]).toMatchObject({
        type: "warning",
        kind: "gap",
        message: expect.stringContaining(` ${dropped} `),
      });
      expect(events[1]).toEqual(notice(`${dropped}`));
    }
    queue.push(notice("fresh"));
    expect(queue.takeAll()).toEqual([notice("fresh")]);
  });

  it("keeps a limit that is below the merge threshold", () => {
    const deltas = Array.from({ length: 50 }, (_, index) => delta(`item ${index}`, "x"));
    expect(queueOf(deltas, { events: 5, deltaCharacters: 100 }).size).toBe(5);
  });

  it("continues merging after it has dropped events", () => {
    const limits = { events: 400, deltaCharacters: 1_000 };
    const queue = queueOf(
      Array.from({ length: 1_000 }, (_, index) => notice(`${index}`)),
      limits,
    );
    for (let round = 0; round < 500; round += 1) {
      queue.push(delta("a", "a"));
      queue.push(delta("b", "b"));
    }
    const deltas = queue.takeAll().filter((event) => event.type === "item.delta");
    expect(deltas.map(({ delta: text }) => text)).toEqual(["a".repeat(500), "b".repeat(500)]);
  });

  it("reports how many characters of an endless text it dropped, and splits no character", () => {
    const limits = { events: 10, deltaCharacters: 64 };
    const queue = queueOf([], limits);
    let pushed = "";
    for (let round = 0; round < 200; round += 1) {
      const text = round % 3 === 0 ? "🦀" : "x";
      pushed += text;
      queue.push(delta("a", text));
    }
    const [event] = queue.takeAll() as [ItemDeltaEvent];
    expect(event.delta.length).toBeLessThanOrEqual(64);
    expect(event.delta.isWellFormed()).toBe(true);
    expect(pushed.endsWith(event.delta)).toBe(true);
    expect((event.omitted ?? 0) + event.delta.length).toBe(pushed.length);
  });

  it("keeps every text complete and every event in order, with no delta after its item's end", () => {
    const ids = fc.constantFrom("a", "b", "c");
    const kinds = fc.constantFrom<DeltaKind>("message", "reasoning", "command_output");
    const events = fc.oneof(
      {
        weight: 4,
        arbitrary: fc
          .record({
            id: ids,
            kind: kinds,
            index: fc.constantFrom(undefined, 0, 1),
            text: fc.string({ maxLength: 4 }),
          })
          .map(({ id, kind, index, text }) =>
            delta(id, text, { kind, ...(index === undefined ? {} : { index }) }),
          ),
      },
      ids.map(started),
      ids.map(completed),
      fc.string().map(notice),
    );
    const crowds = fc.constantFrom([], crowd());
    fc.assert(
      fc.property(
        crowds,
        fc.array(events, { maxLength: 80 }),
        fc.constantFrom(2, 7, 40, 10_000),
        (before, pushed, limit) => {
          // The same object twice would hide a changed order.
          const all = [...before, ...pushed].map((event) => ({ ...event }));
          const read = queueOf(all, { events: 10_000, deltaCharacters: limit }).takeAll();
          expect(read.filter(({ type }) => type !== "item.delta")).toEqual(
            all.filter(({ type }) => type !== "item.delta"),
          );
          const readTexts = texts(read);
          const pushedTexts = texts(all);
          expect([...readTexts.keys()].toSorted()).toEqual([...pushedTexts.keys()].toSorted());
          for (const [key, { text, length }] of readTexts) {
            expect(length).toBe(pushedTexts.get(key)?.length);
            const isWhole = text.length === length;
            expect(text).toBe(isWhole ? pushedTexts.get(key)?.text : text);
          }
        },
      ),
      { numRuns: 300 },
    );
  });

  it("stays small for a stalled reader and 100,000 interleaved deltas of eight texts", () => {
    const queue = queueOf([]);
    for (let round = 0; round < 100_000; round += 1) queue.push(delta(`item ${round % 8}`, "some text "));
    expect(queue.size).toBeLessThan(300);
    const characters = queue
      .takeAll()
      .reduce((sum, event) => sum + (event.type === "item.delta" ? event.delta.length : 0), 0);
    expect(characters).toBe(1_000_000);
  });

  it("drops events from a full queue in amortised constant time", () => {
    const queue = queueOf([]);
    for (let round = 0; round < 200_000; round += 1)
      queue.push({ type: "item.started", ...PLACE, item: command(`${round}`) });
    expect(queue.size).toBe(20_000);
    expect(queue.takeAll()[0]).toMatchObject({ kind: "gap", message: expect.stringContaining(" 180000 ") });
  });
});

/** Each text of an item between two of its start or end events, however many deltas it has. */
function texts(events: readonly CodexEvent[]): Map<string, { text: string; length: number }> {
  const found = new Map<string, { text: string; length: number }>();
  const eras = new Map<string, number>();
  for (const event of events) {
    if (event.type === "item.started" || event.type === "item.completed") {
      eras.set(event.item.id, (eras.get(event.item.id) ?? 0) + 1);
    } else if (event.type === "item.delta") {
      const key = `${event.itemId} ${event.kind} ${event.index} ${eras.get(event.itemId) ?? 0}`;
      const { text, length } = found.get(key) ?? { text: "", length: 0 };
      found.set(key, {
        text: text + event.delta,
        length: length + event.delta.length + (event.omitted ?? 0),
      });
    }
  }
  return found;
}

describe("diffs", () => {
  it("replace unread ones, and follow ones that were read", () => {
    const diff = (turnId: string, text: string): CodexEvent => ({
      type: "diff.updated",
      threadId: "t",
      turnId,
      diff: text,
    });
    const queue = new EventQueue();
    for (const event of [diff("a", "1"), diff("b", "x"), diff("a", "2")]) queue.push(event);
    expect(queue.takeAll()).toEqual([diff("a", "2"), diff("b", "x")]);
    queue.push(diff("a", "3"));
    expect(queue.takeAll()).toEqual([diff("a", "3")]);
  });
});
