import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ExpiryTimer } from "./expiry-timer.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("waits longer than one timer of Node can", async () => {
  const expire = vi.fn<() => Promise<void>>(async () => {});
  using _timer = new ExpiryTimer(Date.now() + 60 * DAY_MS, expire);
  await vi.advanceTimersByTimeAsync(60 * DAY_MS - 1);
  expect(expire).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(1);
  expect(expire).toHaveBeenCalledOnce();
});

test("calls immediately if the entry has already expired", async () => {
  const expire = vi.fn<() => Promise<void>>(async () => {});
  using _timer = new ExpiryTimer(Date.now() - DAY_MS, expire);
  await vi.advanceTimersByTimeAsync(0);
  expect(expire).toHaveBeenCalledOnce();
});

test("calls again until it is disposed, because the clock of the store may be behind, or the store unavailable", async () => {
  const timer = new ExpiryTimer(Date.now() + 100, () => {
    calls += 1;
    return calls === 1 ? Promise.reject(new Error("The store is not available.")) : Promise.resolve();
  });
  let calls = 0;
  await vi.advanceTimersByTimeAsync(2_200);
  expect(calls).toBe(3);
  timer[Symbol.dispose]();
  await vi.advanceTimersByTimeAsync(DAY_MS);
  expect(calls).toBe(3);
});
