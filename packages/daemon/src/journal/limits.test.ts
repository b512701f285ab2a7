import { expect, test } from "vitest";
import { pauseAfterCommit } from "./limits.ts";

const limits = { flushMs: 20, maxFlushMs: 200 };

test("fast commits follow each other every flushMs", () => {
  expect(pauseAfterCommit(1, limits)).toBe(19);
  expect(pauseAfterCommit(5, limits)).toBe(15);
});

test("slow commits get a pause of three times their duration, up to maxFlushMs", () => {
  expect(pauseAfterCommit(20, limits)).toBe(60);
  expect(pauseAfterCommit(100, limits)).toBe(200);
  expect(pauseAfterCommit(10_000, limits)).toBe(200);
  expect(pauseAfterCommit(10_000, { ...limits, maxFlushMs: 0 })).toBe(0);
});
