import { describe, expect, it } from "vitest";
import { createPricer, type ModelPrice, type Prices } from "./prices.ts";

const USAGE = { model: "m", inputTokens: 1_000_000, cachedInputTokens: 400_000, outputTokens: 100_000 };

class InvalidPrice extends Error {}
const pricerFor = (prices: Prices) => createPricer(prices, (message) => new InvalidPrice(message));

describe("prices", () => {
  it("of a table count fresh, cached and output tokens each at its own price", () => {
    const price = { inputPerMillion: 10, outputPerMillion: 50, cachedInputPerMillion: 1 };
    expect(pricerFor({ m: price })(USAGE)).toBeCloseTo(6 + 0.4 + 5);
    const { cachedInputPerMillion: _cached, ...full } = price;
    expect(pricerFor({ m: full })(USAGE)).toBeCloseTo(10 + 5);
  });

  it("are unknown for a model without an entry, whatever its name", () => {
    expect(pricerFor({})(USAGE)).toBeUndefined();
    expect(pricerFor({})({ ...USAGE, model: "constructor" })).toBeUndefined();
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])("can't be %s", (amount) => {
    const price = { inputPerMillion: 1, outputPerMillion: 1, cachedInputPerMillion: 1 };
    for (const field of Object.keys(price)) {
      expect(() => pricerFor({ m: { ...price, [field]: amount } })).toThrow(InvalidPrice);
    }
    expect(() => pricerFor(() => amount)(USAGE)).toThrow(InvalidPrice);
  });

  it("are rejected with a CodexError by default", () => {
    const invalid = expect.objectContaining({ name: "CodexError", code: "invalid_argument" });
    expect(() => createPricer({ m: { inputPerMillion: -1, outputPerMillion: 1 } })).toThrow(invalid);
  });

  it("are rejected if a required field is missing or a field is unknown", () => {
    expect(() => pricerFor({ m: 1 as unknown as ModelPrice })).toThrow(
      /prices\["m"\] must be an object, got 1/,
    );
    const incomplete = { inputPerMillion: 1 } as ModelPrice;
    expect(() => pricerFor({ m: incomplete })).toThrow(/outputPerMillion must be .*, got undefined/);
    const misspelt = { inputPerMillion: 1, outputPerMillion: 1, cachedInput: 1 };
    expect(() => pricerFor({ m: misspelt })).toThrow(/prices\["m"\] has no field "cachedInput"/);
  });
});
