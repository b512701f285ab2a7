import type { Session, SessionEvent } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import {
  addUsage,
  budgetUse,
  contextUse,
  costOf,
  formatCost,
  rankByUsage,
  type TokenUsage,
  usageByDay,
} from "./usage-model.ts";

const tokens = (change: Partial<TokenUsage>): TokenUsage => ({
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
  ...change,
});

test("counts cached input at its own price", () => {
  const usage = tokens({ inputTokens: 1_000_000, cachedInputTokens: 400_000, outputTokens: 100_000 });
  expect(costOf(usage, { input: 2, cachedInput: 0.5, output: 10 })).toBeCloseTo(1.2 + 0.2 + 1);
  expect(formatCost(2.4)).toBe("$2.40");
  expect(formatCost(0.001)).toBe("< $0.01");
  expect(formatCost(0)).toBe("$0.00");
});

test("ranks sessions by their tokens and leaves out unused ones", () => {
  const session = (id: string, totalTokens: number): Session =>
    ({ id, usage: totalTokens < 0 ? null : tokens({ totalTokens }) }) as Session;
  const ranked = rankByUsage([session("a", 50), session("b", 100), session("c", 0), session("d", -1)]);
  expect(ranked.map(({ session: { id }, share }) => [id, share])).toEqual([
    ["b", 1],
    ["a", 0.5],
  ]);
  expect(addUsage(ranked.map(({ usage }) => usage)).totalTokens).toBe(150);
});

test("lists the limits of a session", () => {
  const settings = { budget: { totalTokens: 100, outputTokens: 10 } } as Session["settings"];
  expect(budgetUse({ settings, usage: tokens({ totalTokens: 40, outputTokens: 4 }) })).toEqual([
    { label: "all tokens", limit: 100, used: 40 },
    { label: "output", limit: 10, used: 4 },
  ]);
  expect(budgetUse({ settings: {} as Session["settings"], usage: null })).toEqual([]);
});

test("uses the newest request of the session's own thread as the context", () => {
  const event = (threadId: string, totalTokens: number) =>
    ({ type: "usage.updated", threadId, total: { totalTokens }, contextWindow: 1000 }) as SessionEvent;
  expect(contextUse([])).toBeUndefined();
  expect(contextUse([event("main", 100), event("agent", 900), event("main", 350)])).toEqual({
    used: 250,
    window: 1000,
  });
});

test("adds the tokens of turns by day, newest first", () => {
  const at = (day: number, hour: number): number => new Date(2026, 10, day, hour).getTime();
  const turns = [
    { startedAt: at(18, 23), usage: tokens({ totalTokens: 5 }) },
    { startedAt: at(19, 0), usage: tokens({ totalTokens: 2 }) },
    { startedAt: at(19, 9), usage: null },
    { startedAt: at(19, 23), usage: tokens({ totalTokens: 3 }) },
  ];
  expect(usageByDay(turns)).toEqual([
    { day: at(19, 0), turns: 2, usage: tokens({ totalTokens: 5 }) },
    { day: at(18, 0), turns: 1, usage: tokens({ totalTokens: 5 }) },
  ]);
});
