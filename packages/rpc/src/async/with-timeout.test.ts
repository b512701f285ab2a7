import { afterEach, expect, test, vi } from "vitest";

import { withTimeout } from "./with-timeout.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("settles like the promise within the limit and leaves no timer behind", async () => {
  vi.useFakeTimers();

  await expect(withTimeout(Promise.resolve(1), 1_000, () => new Error("late"))).resolves.toBe(1);
  await expect(
    withTimeout(Promise.reject(new Error("failed")), 1_000, () => new Error("late")),
  ).rejects.toThrow("failed");

  expect(vi.getTimerCount()).toBe(0);
});

test("rejects with the caller's error after the limit", async () => {
  vi.useFakeTimers();
  const waiting = withTimeout(new Promise<never>(() => {}), 1_000, () => new Error("late"));
  const [outcome] = await Promise.allSettled([waiting, vi.advanceTimersByTimeAsync(1_000)]);

  expect(outcome).toMatchObject({ reason: new Error("late") });
});

test("accepts Infinity", async () => {
  await expect(withTimeout(Promise.resolve(1), Infinity, () => new Error("late"))).resolves.toBe(1);
});
