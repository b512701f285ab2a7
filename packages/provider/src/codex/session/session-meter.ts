import { type CodexEvent, type TokenUsage, type UsageUpdatedEvent } from "codexkit";
import type { Pricer } from "codexkit/options";
import type { AgentCost } from "../../contract/agent-event.ts";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import { CallCounter } from "./call-counter.ts";

/** A limit of the spec that the session has used up. */
export interface LimitReached {
  readonly reason: "max_turns" | "budget_exceeded";
  readonly message: string;
}

export interface SessionMeterOptions extends Pick<AgentSpec, "maxTurns" | "maxTokens" | "maxCostUsd"> {
  readonly pricer?: Pricer | undefined;
  /** The model of a thread of the session, if known. */
  readonly modelOf: (threadId: string) => string | undefined;
}

/**
 * Tracks the usage of a session and its subagents, and compares it with the limits of the spec. Only turns that started while the
 * session was open count: Codex reports the tokens of earlier turns again when a thread is resumed.
 */
export class SessionMeter {
  readonly #options: SessionMeterOptions;
  readonly #calls: CallCounter;
  /** Turns of all threads that started while the session was open, with their latest token counts. */
  readonly #turns = new Map<string, TokenUsage | undefined>();
  /** Models that requests were rerouted to, by thread. */
  readonly #rerouted = new Map<string, string>();
  #inputTokens = 0;
  #outputTokens = 0;
  #cachedInputTokens = 0;
  /** Undefined without prices, and once a model without a price was called. */
  #usd: number | undefined;
  #unpriced: string | undefined;

  constructor(options: SessionMeterOptions) {
    this.#options = options;
    this.#calls = new CallCounter(options.maxTurns);
    if (options.pricer) this.#usd = 0;
  }

  get cost(): AgentCost {
    return {
      inputTokens: this.#inputTokens,
      outputTokens: this.#outputTokens,
      cachedInputTokens: this.#cachedInputTokens,
      ...(this.#usd === undefined ? {} : { usd: Math.round(this.#usd * 1e9) / 1e9 }),
      turns: this.#calls.calls,
    };
  }

  /** The model that answers on a thread of the session. */
  modelOf(threadId: string): string | undefined {
    return this.#rerouted.get(threadId) ?? this.#options.modelOf(threadId);
  }

  /** Whether the event reports tokens of a turn of this session. */
  counts(event: CodexEvent): event is UsageUpdatedEvent {
    return event.type === "usage.updated" && this.#turns.has(event.turnId);
  }

  /** Records an event of the session's thread or of a subagent's; returns the limit that it used up, if any. */
  record(event: CodexEvent): LimitReached | undefined {
    if (event.type === "turn.started") this.#turns.set(event.turnId, undefined);
    if (event.type === "warning" && event.kind === "model_rerouted" && event.threadId !== undefined) {
      if (event.model !== undefined) this.#rerouted.set(event.threadId, event.model);
    }
    if (this.counts(event)) {
      const grown = this.#addTokens(event);
      return this.#exceeded(this.#calls.recordUsage(event.threadId, grown));
    }
    const isOver =
      event.type === "item.started" && this.#turns.has(event.turnId) && this.#calls.recordItem(event);
    return this.#exceeded(isOver);
  }

  #addTokens({ threadId, turnId, usage }: UsageUpdatedEvent): boolean {
    const before = this.#turns.get(turnId);
    this.#turns.set(turnId, usage);
    const inputTokens = usage.inputTokens - (before?.inputTokens ?? 0);
    const outputTokens = usage.outputTokens - (before?.outputTokens ?? 0);
    const cachedInputTokens = usage.cachedInputTokens - (before?.cachedInputTokens ?? 0);
    if (inputTokens + outputTokens <= 0) return false;
    this.#inputTokens += inputTokens;
    this.#outputTokens += outputTokens;
    this.#cachedInputTokens += cachedInputTokens;
    this.#addPrice(this.modelOf(threadId) ?? "", { inputTokens, outputTokens, cachedInputTokens });
    return true;
  }

  #addPrice(
    model: string,
    tokens: { inputTokens: number; outputTokens: number; cachedInputTokens: number },
  ): void {
    if (this.#usd === undefined) return;
    const usd = this.#options.pricer?.({ model, ...tokens });
    if (usd === undefined) this.#unpriced ??= model;
    this.#usd = usd === undefined ? undefined : this.#usd + usd;
  }

  #exceeded(isOverCalls: boolean): LimitReached | undefined {
    const { maxTurns, maxTokens, maxCostUsd } = this.#options;
    if (isOverCalls) {
      return { reason: "max_turns", message: `The session used up its ${maxTurns} model calls (maxTurns).` };
    }
    const tokens = this.#inputTokens + this.#outputTokens;
    if (maxTokens !== undefined && tokens > maxTokens) {
      const message = `The session used ${tokens} tokens, more than its ${maxTokens} (maxTokens).`;
      return { reason: "budget_exceeded", message };
    }
    if (maxCostUsd === undefined) return undefined;
    if (this.#unpriced !== undefined) {
      // Without the price of a call the remaining budget is unknown.
      const message = `The session called the model "${this.#unpriced}", which has no price, so maxCostUsd can't be enforced. Add the model to \`prices\`.`;
      return { reason: "budget_exceeded", message };
    }
    if (this.#usd === undefined || this.#usd <= maxCostUsd) return undefined;
    const message = `The session cost ${this.#usd.toFixed(4)} USD, more than its ${maxCostUsd} (maxCostUsd).`;
    return { reason: "budget_exceeded", message };
  }
}
