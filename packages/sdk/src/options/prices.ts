import { CodexError } from "../errors.ts";

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
  /** Includes cached tokens. */
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

type ToError = (message: string) => Error;

const toCodexError: ToError = (message) => new CodexError("invalid_argument", message);

/**
 * Prepares prices for use. Throws for a price that is not a non-negative number: immediately for a table, or when a function
 * returns one.
 *
 * @param toError Creates the error, for packages with their own error class. Default: a `CodexError` with `invalid_argument`.
 */
export function createPricer(prices: Prices, toError: ToError = toCodexError): Pricer {
  if (typeof prices === "function") {
    return (usage) => {
      const usd = prices(usage);
      if (usd !== undefined) checkAmount(`The return value of prices() for "${usage.model}"`, usd, toError);
      return usd;
    };
  }
  for (const [model, price] of Object.entries(prices)) checkPrice(model, price, toError);
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

function checkPrice(model: string, price: ModelPrice, toError: ToError): void {
  if (typeof price !== "object" || price === null) {
    throw toError(`prices["${model}"] must be an object, got ${String(price)}.`);
  }
  const unknown = Object.keys(price).find((field) => !Object.hasOwn(PRICE_FIELDS, field));
  if (unknown !== undefined) {
    const fields = Object.keys(PRICE_FIELDS).join(", ");
    throw toError(`prices["${model}"] has no field "${unknown}". Fields: ${fields}.`);
  }
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = price;
  const amounts = { inputPerMillion, outputPerMillion, cachedInputPerMillion };
  for (const [field, amount] of Object.entries(amounts)) {
    checkAmount(`prices["${model}"].${field}`, amount, toError);
  }
}

function checkAmount(what: string, amount: unknown, toError: ToError): void {
  if (typeof amount === "number" && Number.isFinite(amount) && amount >= 0) return;
  throw toError(`${what} must be a non-negative number of US dollars, got ${String(amount)}.`);
}
