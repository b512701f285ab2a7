import { describe, expect, it } from "vitest";
import { createPricer } from "./prices.ts";

const USAGE = { model: "m", inputTokens: 1_000_000, cachedInputTokens: 400_000, outputTokens: 100_000 };

describe("prices", () => {
  it("of a table count fresh, cached and output tokens each at its own price", () => {
    const price = { inputPerMillion: 10, outputPerMillion: 50, cachedInputPerMillion: 1 };
    expect(createPricer({ m: price })(USAGE)).toBeCloseTo(6 + 0.4 + 5);
    const { cachedInputPerMillion: _cached, ...full } = price;
    expect(createPricer({ m: full })(USAGE)).toBeCloseTo(10 + 5);
  });

  it("are unknown for a model without an entry, whatever its name", () => {
    expect(createPricer({})(USAGE)).toBeUndefined();
    expect(createPricer({})({ ...USAGE, model: "constructor" })).toBeUndefined();
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("can't be %s", (amount) => {
    const invalid = expect.objectContaining({ code: "invalid_spec" });
    expect(() => createPricer({ m: { inputPerMillion: amount, outputPerMillion: 1 } })).toThrow(invalid);
    expect(() => createPricer(() => amount)(USAGE)).toThrow(invalid);
  });
});
