import type { TokenUsage } from "codexkit";
import { timerDelay } from "@codexkit/rpc/async";
import { createProblem, type Problem } from "../api/problem.ts";
import type { SessionSettings } from "../api/settings.ts";

const BUDGET_KEYS = ["totalTokens", "inputTokens", "outputTokens"] as const;

/** Enforces the budget and the deadline of a session. */
export class UsageLimits implements Disposable {
  readonly #onReached: (problem: Problem) => void;
  /** Token usage of the session's thread and of each agent, by thread. */
  readonly #usage = new Map<string, TokenUsage>();
  #settings: Pick<SessionSettings, "budget" | "deadline"> = {};
  #timer: NodeJS.Timeout | undefined;

  /** @param onReached Called for each turn that must be interrupted. */
  constructor(onReached: (problem: Problem) => void) {
    this.#onReached = onReached;
  }

  /** Applies the settings. Call it initially and after each change. */
  update(settings: Pick<SessionSettings, "budget" | "deadline">): void {
    this.#settings = settings;
    clearTimeout(this.#timer);
    if (settings.deadline === undefined) return;
    this.#timer = setTimeout(
      () => {
        // The timer may have fired early, because timers are limited to about 25 days.
        if (this.reached) this.#onReached(this.reached);
        else this.update(this.#settings);
      },
      timerDelay(Math.max(0, settings.deadline - Date.now())),
    );
    this.#timer.unref();
  }

  /** Records the total usage of a thread so far. */
  add(threadId: string, total: TokenUsage): void {
    this.#usage.set(threadId, total);
    if (this.reached) this.#onReached(this.reached);
  }

  /** The reason why no more turns may run. Undefined if they may. */
  get reached(): Problem | undefined {
    const { budget, deadline } = this.#settings;
    if (deadline !== undefined && Date.now() >= deadline) {
      return createProblem("unprocessable", "The deadline of the session has passed.", { limit: "deadline" });
    }
    for (const key of BUDGET_KEYS) {
      const limit = budget?.[key];
      if (limit === undefined) continue;
      const used = [...this.#usage.values()].reduce((sum, usage) => sum + usage[key], 0);
      if (used < limit) continue;
      const detail = `The session has used ${used} of ${limit} ${key}.`;
      return createProblem("unprocessable", detail, { limit: `budget.${key}`, used });
    }
    return undefined;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}
