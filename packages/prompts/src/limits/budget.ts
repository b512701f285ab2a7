import { type OptionKeys, rejectUnknownOptions, type TokenUsage } from "codexkit";
import { checkValue } from "../check-value.ts";
import { PromptError } from "../errors.ts";

/** What evaluations may use. Several evaluations can share one budget. */
export interface BudgetLimits {
  readonly totalTokens?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Money. Needs `prices`. */
  readonly usd?: number;
}

/** Prices in US dollars per million tokens. */
export interface ModelPrices {
  readonly input: number;
  readonly output: number;
  /** Default: the price of input. */
  readonly cachedInput?: number;
}

export interface BudgetOptions extends BudgetLimits {
  /** Prices per model. A model without a price can't be used with a `usd` limit. */
  readonly prices?: Readonly<Record<string, ModelPrices>>;
}

/** A limit that was exceeded. */
export interface BudgetExcess {
  readonly limit: keyof BudgetLimits;
  readonly allowed: number;
  readonly used: number;
}

const KNOWN: OptionKeys<BudgetOptions> = {
  totalTokens: true,
  inputTokens: true,
  outputTokens: true,
  usd: true,
  prices: true,
};

const KNOWN_PRICES: OptionKeys<ModelPrices> = { input: true, output: true, cachedInput: true };

const LIMITS = ["totalTokens", "inputTokens", "outputTokens", "usd"] as const;

const TOKENS_PER_PRICE = 1_000_000;

interface Recorded {
  readonly usage: TokenUsage;
  readonly model: string;
}

/** Counts the usage of evaluations and reports when a limit is exceeded. */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #prices: Readonly<Record<string, ModelPrices>>;
  /** By evaluation: usage is reported as a running total, so a new report replaces the old one. */
  readonly #recorded = new Map<string, Recorded>();

  constructor(options: BudgetOptions) {
    rejectUnknownOptions("Budget", options, KNOWN);
    const { prices = {}, ...limits } = options;
    this.#prices = prices;
    this.limits = limits;
    if (LIMITS.every((limit) => limits[limit] === undefined)) {
      throw new PromptError("invalid_option", `A budget needs at least one limit: ${LIMITS.join(", ")}.`);
    }
    for (const limit of LIMITS) checkValue(`Budget: ${limit}`, limits[limit], "a number above 0", isPositive);
    for (const [model, price] of Object.entries(prices)) {
      const what = `Budget: prices["${model}"]`;
      rejectUnknownOptions(what, price, KNOWN_PRICES);
      for (const field of ["input", "output"] as const)
        checkValue(
          `${what}.${field}`,
          price[field] ?? null,
          "a number of dollars per million tokens",
          isPrice,
        );
      checkValue(`${what}.cachedInput`, price.cachedInput, "a number of dollars per million tokens", isPrice);
    }
  }

  /** Throws early if the cost of a model can't be computed. */
  checkModel(model: string): void {
    if (this.limits.usd === undefined || Object.hasOwn(this.#prices, model)) return;
    throw new PromptError(
      "invalid_option",
      `The budget limits usd but has no prices for the model "${model}". Add them to \`prices\`.`,
    );
  }

  /** Records the running total of one evaluation. */
  record(evaluationId: string, model: string, usage: TokenUsage): void {
    this.#recorded.set(evaluationId, { usage, model });
  }

  /** What all evaluations used so far. */
  get used(): Required<BudgetLimits> {
    const used = { totalTokens: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
    for (const { usage, model } of this.#recorded.values()) {
      used.totalTokens += usage.totalTokens;
      used.inputTokens += usage.inputTokens;
      used.outputTokens += usage.outputTokens;
      used.usd += this.#cost(model, usage);
    }
    return used;
  }

  /** The first limit that is exceeded. */
  get excess(): BudgetExcess | undefined {
    const { used } = this;
    for (const limit of LIMITS) {
      const allowed = this.limits[limit];
      if (allowed !== undefined && used[limit] > allowed) return { limit, allowed, used: used[limit] };
    }
    return undefined;
  }

  /** Whether any limit is used up, so that another turn would exceed it. */
  get isExhausted(): boolean {
    const { used } = this;
    return LIMITS.some((limit) => used[limit] >= (this.limits[limit] ?? Number.POSITIVE_INFINITY));
  }

  #cost(model: string, usage: TokenUsage): number {
    const prices = this.#prices[model];
    if (!prices) return 0;
    const { input, output, cachedInput = input } = prices;
    const fresh = usage.inputTokens - usage.cachedInputTokens;
    return (
      (fresh * input + usage.cachedInputTokens * cachedInput + usage.outputTokens * output) / TOKENS_PER_PRICE
    );
  }
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}

function isPrice(value: unknown): boolean {
  return typeof value === "number" && value >= 0;
}

/** One sentence that names the limit and by how much it was exceeded. */
export function describeExcess({ limit, allowed, used }: BudgetExcess): string {
  const digits = limit === "usd" ? 4 : 0;
  const over = (used - allowed).toFixed(digits);
  return `The budget allows ${allowed} ${limit}; ${used.toFixed(digits)} were used, ${over} more.`;
}
