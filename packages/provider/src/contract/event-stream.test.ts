import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ActivityEvent, AgentEvent, InitEvent, TerminalEvent } from "./agent-event.ts";
import { EventStream } from "./event-stream.ts";
import { errorEvent } from "./session-end.ts";

const INIT: InitEvent = { kind: "init", sessionId: "s", ignored: [] };
const RESULT: TerminalEvent = { kind: "result", success: true, message: "", errors: [], cost: {} };
const CRASH: TerminalEvent = errorEvent("app_server_crashed", "", {});

/** The kinds of a stream that was read to its end. */
const WHOLE = /^init( (system|assistant_text))* (result|error)$/;

function notice(message: string): ActivityEvent {
  return { kind: "system", subtype: "note", message };
}

function words(text: string, messageId = "m"): ActivityEvent {
  return { kind: "assistant_text", text, messageId };
}

function progress(output: string, elapsedSeconds: number): ActivityEvent {
  return { kind: "tool_progress", toolUseId: "t", toolName: "Bash", elapsedSeconds, output };
}

describe("an event stream", () => {
  it("delivers init, all events and the end to a late reader", async () => {
    const stream = new EventStream(INIT);
    stream.push(notice("a"));
    stream.end(RESULT);
    expect(await Array.fromAsync(stream)).toEqual([INIT, notice("a"), RESULT]);
  });

  it("gives events to a waiting reader as they arrive", async () => {
    const stream = new EventStream(INIT);
    const reader = stream[Symbol.asyncIterator]();
    const three = [reader.next(), reader.next(), reader.next(), reader.next()];
    stream.push(notice("a"));
    stream.end(RESULT);
    expect((await Promise.all(three)).map(({ value }) => value)).toEqual([
      INIT,
      notice("a"),
      RESULT,
      undefined,
    ]);
  });

  it("keeps the first end and drops later events", async () => {
    const stream = new EventStream(INIT);
    expect([stream.end(CRASH), stream.end(RESULT)]).toEqual([true, false]);
    stream.push(notice("late"));
    expect(await Array.fromAsync(stream)).toEqual([INIT, CRASH]);
  });

  it("gives a late reader the newest of several usage events in a row", async () => {
    const stream = new EventStream(INIT);
    const usage = (turns: number): ActivityEvent => ({ kind: "usage", cost: { turns } });
    for (const event of [usage(1), usage(2), notice("a"), usage(3)]) stream.push(event);
    stream.end(RESULT);
    expect(await Array.fromAsync(stream)).toEqual([INIT, usage(2), notice("a"), usage(3), RESULT]);
  });

  it("has one reader", () => {
    const stream = new EventStream(INIT);
    stream[Symbol.asyncIterator]();
    expect(() => stream[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ code: "events_taken" }));
  });

  it("ends when its reader stops, and reports that once", async () => {
    let abandoned = 0;
    const stream = new EventStream(INIT, { onAbandoned: () => (abandoned += 1) });
    const reader = stream[Symbol.asyncIterator]();
    await reader.next();
    const waiting = reader.next();
    await reader.return?.();
    await reader.return?.();
    expect(await waiting).toEqual({ value: undefined, done: true });
    expect(stream.end(RESULT)).toBe(false);
    expect(await reader.next()).toEqual({ value: undefined, done: true });
    expect({ abandoned, ended: stream.ended }).toEqual({ abandoned: 1, ended: true });
  });

  it("does not report a reader that stops after the terminal event", async () => {
    let abandoned = 0;
    const stream = new EventStream(INIT, { onAbandoned: () => (abandoned += 1) });
    stream.end(RESULT);
    for await (const event of stream) if (event.kind === "result") break;
    expect(abandoned).toBe(0);
  });

  it("joins unread text of one message and unread progress of one tool", async () => {
    const stream = new EventStream(INIT);
    for (const event of [words("He"), words("llo"), words("x", "n"), progress("1", 1), progress("2", 2)])
      stream.push(event);
    stream.end(RESULT);
    expect(await Array.fromAsync(stream)).toEqual([
      INIT,
      words("Hello"),
      words("x", "n"),
      progress("12", 2),
      RESULT,
    ]);
  });

  it("reports a gap to a reader that fell behind, after init and before the end", async () => {
    const stream = new EventStream(INIT, { unreadCharacters: 10 * 1_605 });
    for (let count = 0; count < 1_000; count += 1) stream.push(notice(`${count}`));
    stream.end(RESULT);
    const events = await Array.fromAsync(stream);
    expect(events[0]).toEqual(INIT);
    expect(events[1]).toMatchObject({ subtype: "gap", message: expect.stringContaining(" 990 ") });
    expect(events.slice(2)).toEqual([
      ...Array.from({ length: 10 }, (_, count) => notice(`${990 + count}`)),
      RESULT,
    ]);
  });

  it("counts the text of unread events, and keeps the newest however large it is", async () => {
    const stream = new EventStream(INIT, { unreadCharacters: 100 });
    for (let count = 0; count < 50; count += 1) stream.push(notice("x".repeat(40)));
    stream.push(notice("y".repeat(1_000)));
    stream.end(RESULT);
    const events = await Array.fromAsync(stream);
    expect(events.map((event) => ("message" in event ? event.message.length : 0))).toEqual([
      0,
      expect.any(Number),
      1_000,
      0,
    ]);
  });

  it("follows the rules of the stream in any order of pushing, ending, reading and stopping", async () => {
    const step = fc.constantFrom("push", "words", "end", "crash", "read", "read", "leave");
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 60 }),
        fc.integer({ min: 1, max: 8 }),
        async (steps, limit) => {
          const stream = new EventStream(INIT, { unreadCharacters: limit * 1_610 });
          const reader = stream[Symbol.asyncIterator]();
          const reads: Promise<IteratorResult<AgentEvent, undefined>>[] = [];
          let left = false;
          for (const [index, what] of steps.entries()) {
            if (what === "push") stream.push(notice(`${index}`));
            else if (what === "words") stream.push(words(`${index} `));
            else if (what === "end") stream.end(RESULT);
            else if (what === "crash") stream.end(CRASH);
            else if (what === "read") reads.push(reader.next());
            else left = (await reader.return?.()) !== undefined;
          }
          stream.end(RESULT);
          const events = (await Promise.all(reads)).flatMap(({ done, value }) => (done ? [] : [value]));
          for (let next = await reader.next(); !next.done; next = await reader.next())
            events.push(next.value);
          const kinds = events.map(({ kind }) => kind).join(" ");
          expect(kinds).toMatch(left ? /^(init( (system|assistant_text))*( result| error)?)?$/ : WHOLE);
        },
      ),
    );
  });
});
