import type { v2 } from "@codexkit/protocol";
import { NO_TOKENS, type TokenUsage } from "../events/turn-result.ts";

/**
 * Computes the tokens of a turn from the running totals of its thread. The server's `last` covers one model response,
 * not a turn, and the same total is reported again on an interrupt and after a resume: only growth counts.
 */
export class UsageMeter {
  #total: TokenUsage | undefined;
  #turn: TokenUsage = NO_TOKENS;

  /** @param total Total of the thread at the start of the turn, if known. */
  constructor(total?: TokenUsage) {
    this.#total = total;
  }

  get turn(): TokenUsage {
    return this.#turn;
  }

  update({ total, last }: v2.ThreadTokenUsage): void {
    // A resumed thread has earlier usage: tokens from before the first response of this turn don't belong to it.
    const before = this.#total ?? combine(total, last, (whole, part) => whole - part);
    // Totals are reset by a compaction: then only the last response is known to be new.
    const grown =
      total.totalTokens >= before.totalTokens
        ? combine(total, before, (now, then) => Math.max(0, now - then))
        : last;
    this.#turn = combine(this.#turn, grown, (sum, more) => sum + more);
    this.#total = total;
  }
}

function combine(
  left: TokenUsage,
  right: TokenUsage,
  count: (left: number, right: number) => number,
): TokenUsage {
  // A server may omit some kinds of tokens. They count as 0, not as NaN.
  const by = (one?: number, other?: number): number => count(one ?? 0, other ?? 0);
  return {
    totalTokens: by(left.totalTokens, right.totalTokens),
    inputTokens: by(left.inputTokens, right.inputTokens),
    cachedInputTokens: by(left.cachedInputTokens, right.cachedInputTokens),
    cacheWriteInputTokens: by(left.cacheWriteInputTokens, right.cacheWriteInputTokens),
    outputTokens: by(left.outputTokens, right.outputTokens),
    reasoningOutputTokens: by(left.reasoningOutputTokens, right.reasoningOutputTokens),
  };
}
