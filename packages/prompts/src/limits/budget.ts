import { type OptionKeys, rejectUnknownOptions, type TokenUsage } from "codexkit";
import { createPricer, type Pricer, type Prices } from "codexkit/options";
import { checkValue } from "../check-value.ts";
import { PromptError } from "../errors.ts";

/** Usage limits for evaluations. Several evaluations can share one budget. */
export interface BudgetLimits {
  readonly totalTokens?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Cost limit. Requires `prices`. */
  readonly usd?: number;
}

export interface BudgetOptions extends BudgetLimits {
  /** Prices per model. With a `usd` limit, a model without a price can't be used. */
  readonly prices?: Prices;
}

/** An exceeded limit. */
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

const LIMITS = ["totalTokens", "inputTokens", "outputTokens", "usd"] as const;

const NO_USAGE = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0 };

interface Recorded {
  readonly usage: TokenUsage;
  readonly model: string;
}

/** Counts the usage of evaluations and reports when a limit is exceeded. */
export class Budget {
  readonly limits: BudgetLimits;
  readonly #price: Pricer;
  /** By evaluation. Usage is reported as a running total, so a new report replaces the old one. */
  readonly #recorded = new Map<string, Recorded>();

  constructor(options: BudgetOptions) {
    rejectUnknownOptions("Budget", options, KNOWN);
    const { prices = {}, ...limits } = options;
    this.limits = limits;
    if (LIMITS.every((limit) => limits[limit] === undefined)) {
      throw new PromptError("invalid_option", `A budget needs at least one limit: ${LIMITS.join(", ")}.`);
    }
    for (const limit of LIMITS) checkValue(`Budget: ${limit}`, limits[limit], "a number above 0", isPositive);
    const toError = (message: string) => new PromptError("invalid_option", `Budget: ${message}`);
    this.#price = createPricer(prices, toError);
  }

  /** Throws if the cost of a model can't be computed, so that this is detected before a turn starts. */
  checkModel(model: string): void {
    if (this.limits.usd === undefined || this.#price({ model, ...NO_USAGE }) !== undefined) return;
    throw new PromptError(
      "invalid_option",
      `The budget limits usd but has no prices for the model "${model}". Add them to \`prices\`.`,
    );
  }

  /** Records the running total of one evaluation. */
  record(evaluationId: string, model: string, usage: TokenUsage): void {
    this.#recorded.set(evaluationId, { usage, model });
  }

  /** Total usage of all evaluations so far. */
  get used(): Required<BudgetLimits> {
    const used = { totalTokens: 0, inputTokens: 0, outputTokens: 0, usd: 0 };
    for (const { usage, model } of this.#recorded.values()) {
      used.totalTokens += usage.totalTokens;
      used.inputTokens += usage.inputTokens;
      used.outputTokens += usage.outputTokens;
      used.usd += this.#price({ model, ...usage }) ?? 0;
    }
    return used;
  }

  /** The first exceeded limit. */
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
}

function isPositive(value: unknown): boolean {
  return typeof value === "number" && value > 0;
}

/** Describes which limit was exceeded and by how much. */
export function describeExcess({ limit, allowed, used }: BudgetExcess): string {
  const digits = limit === "usd" ? 4 : 0;
  const over = (used - allowed).toFixed(digits);
  return `The budget allows ${allowed} ${limit}; ${used.toFixed(digits)} were used, ${over} more.`;
}
