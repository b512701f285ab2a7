import type { CodexEvent, TokenUsage } from "codexkit";
import type { AgentCost } from "../../contract/agent-event.ts";

/** Counts the tokens of a session and of the agents below it. Codex names no prices, so there are none here. */
export class SessionCost {
  /** The newest count of each turn, whoever's it is. */
  readonly #turns = new Map<string, TokenUsage>();

  take(event: CodexEvent): void {
    if (event.type === "usage.updated") this.#turns.set(event.turnId, event.usage);
  }

  /** @param turns How often the session's own model was called. */
  total(turns: number): AgentCost {
    const sum = (count: (usage: TokenUsage) => number): number =>
      [...this.#turns.values()].reduce((total, usage) => total + count(usage), 0);
    return {
      inputTokens: sum(({ inputTokens }) => inputTokens),
      outputTokens: sum(({ outputTokens }) => outputTokens),
      cachedInputTokens: sum(({ cachedInputTokens }) => cachedInputTokens),
      turns,
    };
  }
}
