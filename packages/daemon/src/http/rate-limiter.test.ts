import { expect, test } from "vitest";
import { RateLimiter } from "./rate-limiter.ts";

function createLimiter(options: { perSecond: number; burst: number }) {
  const clock = { now: 0 };
  return { clock, limiter: new RateLimiter({ ...options, now: () => clock.now }) };
}

test("allows a burst, then the average rate", () => {
  const { clock, limiter } = createLimiter({ perSecond: 2, burst: 3 });
  expect([1, 2, 3].map(() => limiter.tryAcquire("a"))).toEqual([0, 0, 0]);
  expect(limiter.tryAcquire("a")).toBe(1);
  clock.now = 500;
  expect(limiter.tryAcquire("a")).toBe(0);
  expect(limiter.tryAcquire("a")).toBe(1);
});

test("limits each key separately", () => {
  const { limiter } = createLimiter({ perSecond: 1, burst: 1 });
  expect(limiter.tryAcquire("a")).toBe(0);
  expect(limiter.tryAcquire("b")).toBe(0);
  expect(limiter.tryAcquire("a")).toBe(1);
});

test("does not collect more than the burst", () => {
  const { clock, limiter } = createLimiter({ perSecond: 1, burst: 2 });
  limiter.tryAcquire("a");
  clock.now = 1_000_000;
  expect([1, 2, 3].map(() => limiter.tryAcquire("a"))).toEqual([0, 0, 1]);
});
