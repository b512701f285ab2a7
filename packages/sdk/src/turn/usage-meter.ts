import type { v2 } from "@codexkit/protocol";
import { NO_TOKENS, type TokenUsage } from "../events/turn-result.ts";

/**
 * Counts a turn's tokens from the thread's running totals. The server's `last` is one model response, not a turn, and it
 * says the same total again on an interrupt and after a resume: only growth counts.
 */
export class UsageMeter {
  #total: TokenUsage | undefined;
  #turn: TokenUsage = NO_TOKENS;

  /** @param total The thread's total when the turn began, if it is known. */
  constructor(total?: TokenUsage) {
    this.#total = total;
  }

  get turn(): TokenUsage {
    return this.#turn;
  }

  update({ total, last }: v2.ThreadTokenUsage): void {
    // A thread that was resumed has a past: what was there before the first response of this turn is not this turn's.
    const before = this.#total ?? combine(total, last, (whole, part) => whole - part);
    // Totals start over after a compaction: then the last response is all that is known to be new.
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
  // A server that does not count a kind of token leaves it out; that must not make the others NaN.
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
