import type { LanguageModelV4Usage } from "@ai-sdk/provider";
import type { TokenUsage } from "codexkit";

/** Counts a step's tokens: the turn's total so far, minus its earlier steps. */
export class StepUsage {
  #turn: TokenUsage | undefined;
  #reported: TokenUsage | undefined;

  /** Sets the turn's total so far. */
  update(turn: TokenUsage): void {
    this.#turn = turn;
  }

  /**
   * Returns the tokens since the last report. The counts are undefined for a step that ends at a tool call, because Codex counts a
   * response only after its tools have ended.
   */
  report(): LanguageModelV4Usage {
    const turn = this.#turn;
    const before = this.#reported;
    this.#reported = turn;
    if (turn === undefined || turn === before) return toUsage(undefined);
    return toUsage(before === undefined ? turn : difference(turn, before));
  }
}

export function toUsage(usage: TokenUsage | undefined): LanguageModelV4Usage {
  if (usage === undefined) {
    return {
      inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined },
    };
  }
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens, outputTokens, reasoningOutputTokens } =
    usage;
  return {
    inputTokens: {
      total: inputTokens,
      noCache: Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens),
      cacheRead: cachedInputTokens,
      cacheWrite: cacheWriteInputTokens,
    },
    outputTokens: {
      total: outputTokens,
      text: Math.max(0, outputTokens - reasoningOutputTokens),
      reasoning: reasoningOutputTokens,
    },
    raw: { ...usage },
  };
}

function difference(now: TokenUsage, before: TokenUsage): TokenUsage {
  return {
    totalTokens: now.totalTokens - before.totalTokens,
    inputTokens: now.inputTokens - before.inputTokens,
    cachedInputTokens: now.cachedInputTokens - before.cachedInputTokens,
    cacheWriteInputTokens: now.cacheWriteInputTokens - before.cacheWriteInputTokens,
    outputTokens: now.outputTokens - before.outputTokens,
    reasoningOutputTokens: now.reasoningOutputTokens - before.reasoningOutputTokens,
  };
}
