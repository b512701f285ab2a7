import type { UsageUpdatedEvent } from "codexkit";
import { afterEach, expect, test, vi } from "vitest";
import { TurnLimits } from "./turn-limits.ts";

afterEach(() => {
  vi.useRealTimers();
});

function usageOf(turnId: string, totalTokens: number): UsageUpdatedEvent {
  return { type: "usage.updated", turnId, usage: { totalTokens } } as unknown as UsageUpdatedEvent;
}

test("a budget covers all turns", () => {
  using limits = new TurnLimits({ budget: 1_000 });
  limits.observe(usageOf("a", 500));
  limits.observe(usageOf("a", 600));
  limits.observe(usageOf("b", 400));
  expect(limits.signal.aborted).toBe(false);

  limits.observe(usageOf("b", 401));
  expect(limits.exceeded).toMatchObject({
    exitCode: 4,
    message: "The task used 1.0k tokens, which exceeds the budget of 1.0k.",
  });
});

test("a turn that ends before its last usage was seen is still over the budget", () => {
  using limits = new TurnLimits({ budget: 1_000 });
  const usage = usageOf("a", 2_600).usage;
  limits.checkEnd("a", null);

  expect(() => limits.checkEnd("a", usage)).toThrow(
    "The task used 2.6k tokens, which exceeds the budget of 1.0k.",
  );
  expect(limits.exceeded).toMatchObject({ exitCode: 4 });
});

test("a deadline counts from the start", () => {
  vi.useFakeTimers();
  using limits = new TurnLimits({ deadline: 600_000 });
  vi.advanceTimersByTime(599_999);
  expect(limits.signal.aborted).toBe(false);

  vi.advanceTimersByTime(1);
  expect(limits.exceeded).toMatchObject({ exitCode: 4, message: "The deadline of 10m 00s has passed." });
});
