import type { SessionEvent } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import { parseFilter, summarizeEvent, toCurl } from "./event-filter.ts";

const events = [
  { seq: 1, epoch: 1, at: 0, type: "session.created" },
  { seq: 2, epoch: 1, at: 0, type: "turn.started", turnId: "t1" },
  { seq: 3, epoch: 1, at: 0, type: "item.started", turnId: "t1", item: { id: "i1", text: "Hello" } },
  { seq: 4, epoch: 1, at: 0, type: "item.delta", turnId: "t1", itemId: "i1", delta: "World" },
] as unknown as readonly SessionEvent[];

test.each([
  ["", [1, 2, 3, 4]],
  ["item.", [3, 4]],
  ["item. -item.delta", [3]],
  ["2-3", [2, 3]],
  ["3-", [3, 4]],
  ["#2", [2]],
  ["turn:t1 -3", [2, 4]],
  ["item:i1", [3, 4]],
  ["hello", [3]],
  ["-hello item.", [4]],
  ["absent", []],
])("filters by %j", (text, expected) => {
  expect(events.filter(parseFilter(text)).map(({ seq }) => seq)).toEqual(expected);
});

test("summarises an event without the fields that have columns", () => {
  const [, started] = events;
  if (!started) throw new Error("Expected an event.");
  expect(summarizeEvent(started)).toBe('{"turnId":"t1"}');
});

test("makes a command line without a token", () => {
  expect(toCurl("http://127.0.0.1:4100", "s 1", { seq: 7 })).toBe(
    `curl -H "Authorization: Bearer $CODEXKIT_TOKEN" 'http://127.0.0.1:4100/sessions/s%201/events?after=6&limit=1'`,
  );
});
