import type { CodexEvent } from "codexkit";
import { toToolItem } from "../events/tool-item.ts";

/**
 * Counts how often the model was called, and says when it is called once more than it may. Codex tells the tokens of a call
 * when the call was answered and the tools that it asked for have ended: with tools the next call follows at once, without
 * them the turn is over. Tools that leave no trace are caught one step later, by the first word of the next answer.
 */
export class StepMeter {
  readonly #limit: number;
  #usedTools = false;
  #steps = 0;

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** Calls of the model so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Takes an event of the session's own thread; true when its calls are used up and it goes on. */
  take(event: CodexEvent): boolean {
    const isUsedUp = this.#steps >= this.#limit;
    if (event.type === "item.started") {
      const isTool = toToolItem(event.item) !== undefined;
      this.#usedTools ||= isTool;
      return isUsedUp && (isTool || event.item.type === "agentMessage" || event.item.type === "reasoning");
    }
    if (event.type !== "usage.updated") return false;
    const goesOn = this.#usedTools;
    this.#usedTools = false;
    this.#steps += 1;
    return isUsedUp || (goesOn && this.#steps >= this.#limit);
  }
}
