import { expect, test } from "vitest";
import { TokenBucket } from "./token-bucket.ts";

test("a bucket delays callers that exceed the rate", () => {
  let now = 0;
  const bucket = new TokenBucket({ perSecond: 1000, now: () => now });
  expect(bucket.take(1000)).toBe(0);
  expect(bucket.take(500)).toBe(500);
  expect(bucket.take(500)).toBe(1000);
  now = 1500;
  expect(bucket.take(500)).toBe(0);
  now = 1_000_000;
  expect(bucket.take(1000)).toBe(0);
  expect(bucket.take(1)).toBe(1);
});

test("a bucket refuses an amount that is not available", () => {
  let now = 0;
  const bucket = new TokenBucket({ perSecond: 1, burst: 2, now: () => now });
  expect([bucket.tryTake(1), bucket.tryTake(1), bucket.tryTake(1)]).toEqual([0, 0, 1000]);
  now = 1000;
  expect([bucket.tryTake(1), bucket.tryTake(1)]).toEqual([0, 1000]);
});

test("a bucket without a limit never delays", () => {
  const bucket = new TokenBucket({ perSecond: Infinity });
  expect(bucket.take(1e15)).toBe(0);
  expect(bucket.tryTake(1e15)).toBe(0);
});
