import type { TokenUsage } from "codexkit";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Problem } from "../api/problem.ts";
import { UsageLimits } from "./usage-limits.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const tokens = (inputTokens: number, outputTokens: number): TokenUsage =>
  ({ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }) as TokenUsage;

test("a budget counts the session's thread and its agents together", () => {
  const reached: Problem[] = [];
  using limits = new UsageLimits((problem) => reached.push(problem));
  limits.update({ budget: { outputTokens: 100 } });
  limits.add("root", tokens(1_000, 40));
  limits.add("agent", tokens(1_000, 40));
  limits.add("root", tokens(2_000, 59));
  expect(limits.reached).toBeUndefined();
  limits.add("agent", tokens(2_000, 41));
  expect(reached).toMatchObject([{ limit: "budget.outputTokens", used: 100 }]);
  limits.update({ budget: { outputTokens: 101 } });
  expect(limits.reached).toBeUndefined();
});

test("a deadline is reported when it passes, even if it is further away than a timer reaches", () => {
  const reached: Problem[] = [];
  using limits = new UsageLimits((problem) => reached.push(problem));
  const month = 31 * 24 * 3_600_000;
  limits.update({ deadline: Date.now() + month });
  vi.advanceTimersByTime(month - 1);
  expect(reached).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(reached).toMatchObject([{ limit: "deadline" }]);
});
