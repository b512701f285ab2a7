import type { CodexEvent } from "codexkit";
import { toToolItem } from "../events/tool-item.ts";

/**
 * Counts how often the model was called, and says when it would be called once more than it may. Every tool that an answer
 * asks for brings another call, so the first tool of the last permitted answer is the end. Codex tells the tokens of a call when
 * it was answered and its tools have ended; whatever begins after that is of the next call. Tools that leave no trace are
 * caught one call later, by its first word.
 */
export class StepMeter {
  readonly #limit: number;
  #counted = 0;
  /** Whether something came of a call whose tokens were not told yet. */
  #isAnswering = false;

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** Calls of the model so far. */
  get calls(): number {
    return this.#counted + (this.#isAnswering ? 1 : 0);
  }

  /** Takes an event of the session's own thread; true when the calls are used up and the turn goes on. */
  take(event: CodexEvent): boolean {
    if (event.type === "usage.updated") {
      this.#counted += 1;
      this.#isAnswering = false;
      return this.calls > this.#limit;
    }
    if (event.type !== "item.started") return false;
    const isTool = toToolItem(event.item) !== undefined;
    const isAnswer = isTool || event.item.type === "agentMessage" || event.item.type === "reasoning";
    this.#isAnswering ||= isAnswer;
    return isAnswer && (this.calls > this.#limit || (isTool && this.calls === this.#limit));
  }
}
