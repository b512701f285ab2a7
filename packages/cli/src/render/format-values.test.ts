import { expect, test } from "vitest";
import { formatAge, formatCount, formatDuration } from "./format-values.ts";

test.each([
  [0, "0"],
  [999, "999"],
  [1_000, "1.0k"],
  [9_949, "9.9k"],
  [9_950, "10k"],
  [9_999, "10k"],
  [38_400, "38k"],
  [999_499, "999k"],
  [999_500, "1.0M"],
  [999_950, "1.0M"],
  [1_540_000, "1.5M"],
])("formats %d tokens as %s", (count, text) => {
  expect(formatCount(count)).toBe(text);
});

test.each([
  [7_900, "7s"],
  [59_999, "59s"],
  [125_000, "2m 05s"],
  [3_599_999, "59m 59s"],
  [3_720_000, "1h 02m"],
])("formats a duration of %d ms as %s", (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test.each([
  [59_999, "just now"],
  [300_000, "5 min ago"],
  [3 * 3_600_000, "3 h ago"],
  [2 * 86_400_000, "2 d ago"],
])("formats an age of %d ms as %s", (ms, text) => {
  expect(formatAge(ms)).toBe(text);
});
