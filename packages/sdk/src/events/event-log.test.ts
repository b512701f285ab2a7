import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { settled } from "../../test/fake-caller.ts";
import { EventLog } from "./event-log.ts";
import type { CodexEvent } from "./event.ts";

function notice(message: string): CodexEvent {
  return { type: "warning", kind: "server", message };
}

function delta(text: string): CodexEvent {
  return {
    type: "item.delta",
    threadId: "thread",
    turnId: "turn",
    itemId: "item",
    kind: "message",
    delta: text,
  };
}

/** What all readers must agree on, however their deltas were merged. */
function story(events: readonly CodexEvent[]): string {
  return events
    .map((event) =>
      event.type === "item.delta" ? event.delta : event.type === "warning" ? `[${event.message}]` : "",
    )
    .join("");
}

describe("EventLog", () => {
  it("delivers the same events to readers of any speed, whenever they start", async () => {
    const events = fc.oneof(
      fc.string({ maxLength: 3 }).map(delta),
      fc.nat(9).map((number) => notice(`${number}`)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(events, { maxLength: 40 }),
        fc.array(fc.record({ from: fc.nat(40), reads: fc.array(fc.nat(3)) }), { minLength: 1, maxLength: 4 }),
        async (pushed, readers) => {
          const log = new EventLog({ history: true });
          const open = new Map<
            number,
            { read: CodexEvent[]; iterator: AsyncIterator<CodexEvent, undefined> }
          >();
          for (let at = 0; at <= pushed.length; at += 1) {
            for (const [number, { from }] of readers.entries()) {
              if (Math.min(from, pushed.length) === at) open.set(number, { read: [], iterator: log.read() });
            }
            const event = pushed[at];
            if (event) log.push(event);
            for (const [number, { read, iterator }] of open) {
              const count = readers[number]?.reads[at] ?? 0;
              for (let some = 0; some < count; some += 1) {
                void iterator.next().then(({ value }) => value && read.push(value));
              }
            }
            await settled();
          }
          log.end();
          for (const { read, iterator } of open.values()) {
            await settled();
            for (let next = await iterator.next(); !next.done; next = await iterator.next())
              read.push(next.value);
            expect(story(read)).toBe(story(pushed));
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("delivers the whole history to a late reader, with deltas merged", async () => {
    const log = new EventLog({ history: true });
    for (const event of [notice("begin"), delta("a"), delta("b"), notice("end")]) log.push(event);
    log.end();
    const expected = [notice("begin"), delta("ab"), notice("end")];
    expect(await Array.fromAsync(log.read())).toEqual(expected);
    expect(await Array.fromAsync(log.read())).toEqual(expected);
  });

  it("reports to a late reader that the history is incomplete", async () => {
    const log = new EventLog({ history: true });
    for (let number = 0; number < 20_010; number += 1) log.push(notice(`${number}`));
    log.end();
    const [first, second] = await Array.fromAsync(log.read());
    expect(first).toMatchObject({ type: "warning", kind: "gap", message: expect.stringContaining(" 10 ") });
    expect(second).toEqual(notice("10"));
  });

  it("delivers only later events without a history", async () => {
    const log = new EventLog({ history: false });
    log.push(notice("before"));
    const reader = log.read();
    log.push(notice("after"));
    log.end();
    expect(await Array.fromAsync(reader)).toEqual([notice("after")]);
    expect(await Array.fromAsync(log.read())).toEqual([]);
  });

  it("drops a reader that returns early", async () => {
    const log = new EventLog({ history: true });
    const reader = log.read();
    log.push(notice("one"));
    for await (const event of reader) {
      expect(event).toEqual(notice("one"));
      break;
    }
    log.push(notice("two"));
    expect(await reader.next()).toEqual({ value: undefined, done: true });
    const other = log.read();
    expect((await other.next()).value).toEqual(notice("one"));
  });

  it("wakes a waiting reader when it returns", async () => {
    const reader = new EventLog({ history: false }).read();
    const waiting = [reader.next(), reader.next()];
    await reader.return?.();
    expect(await Promise.all(waiting)).toMatchObject([{ done: true }, { done: true }]);
  });

  it("wakes all waiting readers when it ends, and ignores later events", async () => {
    const log = new EventLog({ history: true });
    const readers = [log.read(), log.read()];
    const waiting = readers.flatMap((reader) => [reader.next(), reader.next()]);
    log.push(notice("last"));
    log.end();
    log.push(notice("too late"));
    log.end();
    const done = { value: undefined, done: true };
    const last = { value: notice("last"), done: false };
    expect(await Promise.all(waiting)).toEqual([last, done, last, done]);
    expect(await Array.fromAsync(log.read())).toEqual([notice("last")]);
  });

  it("serves several concurrent reads of one reader in order", async () => {
    const log = new EventLog({ history: false });
    const reader = log.read();
    log.push(notice("0"));
    const reads = [reader.next(), reader.next(), reader.next()];
    log.push(notice("1"));
    log.push(notice("2"));
    const values = (await Promise.all(reads)).map(({ value }) => value);
    expect(values).toEqual([notice("0"), notice("1"), notice("2")]);
  });

  it("delivers 200,000 deltas to a fast and a slow reader", async () => {
    const log = new EventLog({ history: true });
    const slow = log.read();
    const fast = log.read();
    let characters = 0;
    const reading = (async () => {
      for await (const event of fast) if (event.type === "item.delta") characters += event.delta.length;
    })();
    for (let number = 0; number < 200_000; number += 1) {
      log.push(delta("0123456789"));
      if (number % 100 === 0) await settled();
    }
    log.end();
    await reading;
    expect(characters).toBe(2_000_000);
    const [only, ...rest] = await Array.fromAsync(slow);
    expect(only?.type === "item.delta" && only.delta.length).toBe(2_000_000);
    expect(rest).toEqual([]);
  });
});
