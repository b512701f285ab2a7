import { expect, it } from "vitest";
import { addCosts } from "./add-costs.ts";

it("adds costs, and omits values that none of them has", () => {
  expect(addCosts({ inputTokens: 2, turns: 1 }, {}, { inputTokens: 3, usd: 0.5 })).toEqual({
    inputTokens: 5,
    turns: 1,
    usd: 0.5,
  });
  expect(addCosts({ usd: 0.1 }, { usd: 0.2 })).toEqual({ usd: 0.3 });
  expect(addCosts()).toEqual({});
});
