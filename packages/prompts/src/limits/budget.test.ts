import type { ModelUsage } from "codexkit/options";
import { expect, test } from "vitest";
import { Budget, describeExcess } from "./budget.ts";

const usage = (input: number, output: number, cached = 0) => ({
  totalTokens: input + output,
  inputTokens: input,
  cachedInputTokens: cached,
  cacheWriteInputTokens: 0,
  outputTokens: output,
  reasoningOutputTokens: 0,
});

test("running totals replace each other within an evaluation and add up across evaluations", () => {
  const budget = new Budget({ totalTokens: 100 });
  budget.record("one", "m", usage(10, 5));
  budget.record("one", "m", usage(40, 10));
  budget.record("two", "m", usage(20, 10));

  expect(budget.used).toMatchObject({ totalTokens: 80, inputTokens: 60, outputTokens: 20 });
  expect(budget.excess).toBeUndefined();
  expect(budget.isExhausted).toBe(false);
});

test("the error names the limit and by how much it was exceeded", () => {
  const budget = new Budget({ totalTokens: 1_000, outputTokens: 5 });
  budget.record("one", "m", usage(10, 8));

  expect(budget.excess).toEqual({ limit: "outputTokens", allowed: 5, used: 8 });
  expect(budget.excess && describeExcess(budget.excess)).toBe(
    "The budget allows 5 outputTokens; 8 were used, 3 more.",
  );
});

test("cost is computed from the model's prices, with cached input counted separately", () => {
  const prices = { m: { inputPerMillion: 2, cachedInputPerMillion: 0.5, outputPerMillion: 10 } };
  const budget = new Budget({ usd: 1, prices });
  budget.record("one", "m", usage(1_000_000, 100_000, 400_000));

  expect(budget.used.usd).toBeCloseTo(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10);
  expect(() => budget.checkModel("other")).toThrow(/no prices for the model "other"/);
});

test("a function can set the prices of the models that it knows", () => {
  const prices = ({ model, outputTokens }: ModelUsage) => (model === "m" ? outputTokens / 100 : undefined);
  const budget = new Budget({ usd: 1, prices });
  budget.checkModel("m");
  budget.record("one", "m", usage(10, 150));

  expect(budget.excess).toEqual({ limit: "usd", allowed: 1, used: 1.5 });
  expect(() => budget.checkModel("other")).toThrow(/no prices for the model "other"/);
});

test.for([{}, { totalTokens: 0 }, { inputTokens: -1 }, { usd: Number.NaN }])("%o is rejected", (limits) => {
  expect(() => new Budget(limits)).toThrow(expect.objectContaining({ code: "invalid_option" }) as Error);
});
