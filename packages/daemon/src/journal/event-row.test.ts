import fc from "fast-check";
import { expect, test } from "vitest";
import type { NewSessionEvent } from "../api/event.ts";
import { decodeEvent, encodeEvent, eventTexts, type StoredEvent, toEvent } from "./event-row.ts";

const text = fc.oneof(fc.string({ unit: "binary" }), fc.constant('"},\\\u2028'));
const event: fc.Arbitrary<NewSessionEvent> = fc.oneof(
  fc.record({
    type: fc.constant("item.delta" as const),
    threadId: text,
    turnId: text,
    itemId: text,
    kind: fc.constant("message" as const),
    delta: text,
    offset: fc.nat(),
  }),
  fc.constant({ type: "session.created" } as const),
  fc.record({ type: fc.constant("item.abandoned" as const), itemId: text, turnId: text }),
  fc
    .tuple(fc.constantFrom("item.started" as const, "item.completed" as const), text, text)
    .map(([type, id, turnId]): NewSessionEvent => ({
      type,
      threadId: "thread",
      turnId,
      item: { type: "plan", id, text: id },
    })),
  fc.record({
    type: fc.constant("unknown" as const),
    // Not an ID, so that it stays in the JSON.
    turnId: fc.constantFrom(7, null) as fc.Arbitrary<never>,
    raw: fc.record({ method: text, params: fc.jsonValue() as fc.Arbitrary<object> }),
  }),
);

function toRows(events: readonly NewSessionEvent[]): StoredEvent[] {
  return events.map((one, index) => {
    const { turnId, itemId, data } = encodeEvent(one);
    return { seq: index + 1, epoch: 2, at: 3, type: one.type, turn_id: turnId, item_id: itemId, data };
  });
}

test("an event is the same as an object, as a stored row and as the text that readers get", () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 5 }), (events) => {
      const rows = toRows(events);
      const expected: unknown = JSON.parse(
        JSON.stringify(rows.map((row, index) => toEvent(encodeEvent(events[index] as NewSessionEvent), row))),
      );
      expect(rows.map(decodeEvent)).toEqual(expected);
      const texts = [...eventTexts(rows)];
      expect(texts.map(({ json }) => JSON.parse(json) as unknown)).toEqual(expected);
      expect(texts.map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq));
      for (const { json } of texts) expect(json).not.toMatch(/[\r\n]/);
    }),
  );
});

test("tokens of a daemon are not stored, and texts keep their length", () => {
  const token = `ckd_${"aB3-_".repeat(9).slice(0, 43)}`;
  const delta = {
    type: "item.delta",
    threadId: "t",
    turnId: "t",
    itemId: "i",
    kind: "command_output",
  } as const;
  const printed = `x${token}\n${token} ckd_short`;
  const events: NewSessionEvent[] = [
    { ...delta, delta: printed, offset: 0 },
    { type: "unknown", turnId: 7 as never, raw: { method: "m", params: { [token]: [token] } } },
  ];
  const encoded = events.map((stored) => encodeEvent(stored));
  expect(JSON.stringify(encoded)).not.toContain(token);
  const [stored] = encoded;
  expect(stored?.event).toMatchObject({
    ...delta,
    offset: 0,
    delta: expect.stringMatching(/ ckd_short$/) as string,
  });
  expect(stored?.data.length).toBe(
    JSON.stringify({ threadId: "t", kind: "command_output", delta: printed, offset: 0 }).length,
  );
  expect(toRows(events).map(decodeEvent)).toEqual(
    encoded.map((one, index) => toEvent(one, { seq: index + 1, epoch: 2, at: 3 })),
  );
});
