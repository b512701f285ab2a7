import type { CodexEvent, TokenUsage } from "codexkit";

export const NO_USAGE: TokenUsage = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

/** Adds up an evaluation's token usage: all turns of its thread and of the agents that it started. */
export class UsageLedger {
  /** Turn → its running total. */
  readonly #turns = new Map<string, TokenUsage>();

  record(event: CodexEvent): boolean {
    if (event.type !== "usage.updated") return false;
    this.#turns.set(`${event.threadId} ${event.turnId}`, event.usage);
    return true;
  }

  get total(): TokenUsage {
    return [...this.#turns.values()].reduce(add, NO_USAGE);
  }
}

function add(left: TokenUsage, right: TokenUsage): TokenUsage {
  return {
    totalTokens: left.totalTokens + right.totalTokens,
    inputTokens: left.inputTokens + right.inputTokens,
    cachedInputTokens: left.cachedInputTokens + right.cachedInputTokens,
    cacheWriteInputTokens: left.cacheWriteInputTokens + right.cacheWriteInputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    reasoningOutputTokens: left.reasoningOutputTokens + right.reasoningOutputTokens,
  };
}
