import { expect, test } from "vitest";
import { formatPosition, MAX_PAUSE_MS, ReplayClock } from "./replay-clock.ts";

test("shortens long pauses and counts the events at a position", () => {
  const clock = new ReplayClock([1000, 1100, 1100, 900_000, 900_050]);
  expect(clock.duration).toBe(100 + MAX_PAUSE_MS + 50);
  expect(clock.countAt(0)).toBe(1);
  expect(clock.countAt(99)).toBe(1);
  expect(clock.countAt(100)).toBe(3);
  expect(clock.countAt(100 + MAX_PAUSE_MS)).toBe(4);
  expect(clock.countAt(1e9)).toBe(5);
  expect(clock.positionOf(3)).toBe(100 + MAX_PAUSE_MS);
  expect(clock.positionOf(99)).toBe(clock.duration);
});

test("has no duration without events, and never runs backwards", () => {
  expect(new ReplayClock([]).duration).toBe(0);
  expect(new ReplayClock([]).countAt(5)).toBe(0);
  expect(new ReplayClock([500, 400, 450]).duration).toBe(50);
});

test.each([
  [0, "0:00"],
  [5400, "0:05"],
  [754_000, "12:34"],
  [3_723_000, "1:02:03"],
])("formats %d ms", (milliseconds, text) => {
  expect(formatPosition(milliseconds)).toBe(text);
});
