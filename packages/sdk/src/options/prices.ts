import { ProviderError } from "./provider-error.ts";

/** US dollars per million tokens. */
export interface ModelPrice {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** Default: `inputPerMillion`. */
  readonly cachedInputPerMillion?: number | undefined;
}

const PRICE_FIELDS: Readonly<Record<keyof ModelPrice, true>> = {
  inputPerMillion: true,
  outputPerMillion: true,
  cachedInputPerMillion: true,
};

/** Tokens that one model used. */
export interface ModelUsage {
  readonly model: string;
  /** Cached tokens included. */
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
}

/**
 * Model prices: a table by model id, or a function that returns the price in US dollars. If a model has no entry or the function
 * returns undefined, its price is unknown.
 */
export type Prices = Readonly<Record<string, ModelPrice>> | ((usage: ModelUsage) => number | undefined);

/** Returns the price of some usage in US dollars. Undefined if the price of the model is unknown. */
export type Pricer = (usage: ModelUsage) => number | undefined;

/** @throws {ProviderError} `invalid_spec` for a price that is not a non-negative number. */
export function createPricer(prices: Prices): Pricer {
  if (typeof prices === "function") {
    return (usage) => {
      const usd = prices(usage);
      if (usd !== undefined) checkAmount(`The price callback returned for "${usage.model}"`, usd);
      return usd;
    };
  }
  for (const [model, price] of Object.entries(prices)) {
    const unknown = Object.keys(price).find((field) => !Object.hasOwn(PRICE_FIELDS, field));
    if (unknown !== undefined) {
      const message = `prices["${model}"] has no field "${unknown}". Fields: ${Object.keys(PRICE_FIELDS).join(", ")}.`;
      throw new ProviderError("invalid_spec", message);
    }
    checkAmount(`prices["${model}"].inputPerMillion is`, price.inputPerMillion);
    checkAmount(`prices["${model}"].outputPerMillion is`, price.outputPerMillion);
    for (const [field, amount] of Object.entries(price)) {
      if (amount !== undefined) checkAmount(`prices["${model}"].${field} is`, amount);
    }
  }
  return ({ model, inputTokens, cachedInputTokens, outputTokens }) => {
    const price = Object.hasOwn(prices, model) ? prices[model] : undefined;
    if (!price) return undefined;
    const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = price;
    const fresh = inputTokens - cachedInputTokens;
    const total =
      fresh * inputPerMillion + cachedInputTokens * cachedInputPerMillion + outputTokens * outputPerMillion;
    return total / 1e6;
  };
}

function checkAmount(what: string, amount: unknown): void {
  if (typeof amount === "number" && Number.isFinite(amount) && amount >= 0) return;
  throw new ProviderError("invalid_spec", `${what} ${String(amount)}, not a non-negative number.`);
}
