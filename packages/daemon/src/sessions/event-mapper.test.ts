import { CodexError, type CodexEvent, type TurnResult } from "codexkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { NewSessionEvent } from "../api/event.ts";
import { EventMapper } from "./event-mapper.ts";

const ids = { threadId: "thread", turnId: "turn" };
const item = { type: "agentMessage", id: "item", text: "" } as never;
const result = { ...ids, status: "failed", items: [item], finalResponse: "" } as unknown as TurnResult;

const started: CodexEvent = { type: "item.started", ...ids, item, raw: { method: "item/started" } };
const completed: CodexEvent = { type: "item.completed", ...ids, item };
const delta = (text: string, index?: number): CodexEvent => ({
  type: "item.delta",
  ...ids,
  itemId: "item",
  kind: "message",
  delta: text,
  ...(index === undefined ? {} : { index }),
});

const offsetOf = (event: NewSessionEvent | undefined): unknown =>
  event?.type === "item.delta" ? event.offset : undefined;

describe("stored events", () => {
  test("have no wire message", () => {
    expect(new EventMapper().map(started)).toEqual({ type: "item.started", ...ids, item });
  });

  test("of failed turns have a problem, and no items", () => {
    const error = new CodexError("turn_failed", "The model is gone.");
    expect(new EventMapper().map({ type: "turn.failed", ...ids, error, result })).toEqual({
      type: "turn.failed",
      ...ids,
      result: { ...ids, status: "failed", finalResponse: "" },
      problem: expect.objectContaining({ type: "codex_failed", detail: "The model is gone." }) as object,
    });
  });

  test("have the length of the preceding text as the offset of each delta, per index", () => {
    const texts = fc.array(fc.record({ text: fc.string(), index: fc.integer({ min: 0, max: 2 }) }));
    fc.assert(
      fc.property(texts, (deltas) => {
        const mapper = new EventMapper();
        mapper.map(started);
        const whole = new Map<number, string>();
        for (const { text, index } of deltas) {
          const before = whole.get(index) ?? "";
          expect(offsetOf(mapper.map(delta(text, index)))).toBe(before.length);
          whole.set(index, before + text);
        }
      }),
    );
  });
});

describe("after a reconnect", () => {
  test("an item and a turn that were read from the history are not stored again", () => {
    const mapper = new EventMapper();
    mapper.skip({ itemIds: ["item"], turnIds: ["turn"] });
    expect(mapper.map(started)).toBeUndefined();
    expect(mapper.map(delta("late"))).toBeUndefined();
    expect(mapper.map(completed)).toBeUndefined();
    expect(mapper.map({ type: "turn.started", ...ids })).toBeUndefined();
    expect(mapper.map({ type: "turn.completed", ...ids, result })).toBeUndefined();
  });

  test("deltas are not stored if the beginning of their text is unknown", () => {
    const mapper = new EventMapper();
    mapper.join("turn");
    expect(mapper.map(delta("middle"))).toBeUndefined();
    expect(mapper.map(completed)).toMatchObject({ type: "item.completed" });
    expect(mapper.map({ ...started, item: { type: "agentMessage", id: "next" } as never })).toBeDefined();
    expect(offsetOf(mapper.map({ ...delta("start"), itemId: "next" } as CodexEvent))).toBe(0);
  });
});
