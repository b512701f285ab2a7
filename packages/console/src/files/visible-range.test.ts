import { expect, test } from "vitest";
import { visibleRange } from "./visible-range.ts";

const list = { height: 100, rowHeight: 10, count: 1000 };

test("includes the visible rows and some around them", () => {
  expect(visibleRange(0, list)).toEqual({ first: 0, last: 30 });
  expect(visibleRange(5000, list)).toEqual({ first: 480, last: 530 });
  expect(visibleRange(9900, list)).toEqual({ first: 970, last: 1000 });
});

test("is empty for an empty list, and ends at the end of a list that has become shorter", () => {
  expect(visibleRange(0, { ...list, count: 0 })).toEqual({ first: 0, last: 0 });
  expect(visibleRange(9900, { ...list, count: 5 })).toEqual({ first: 5, last: 5 });
});
