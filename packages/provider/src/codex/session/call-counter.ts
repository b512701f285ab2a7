import type { CodexEvent } from "codexkit";
import { toToolItem } from "../events/tool-item.ts";

/**
 * Counts the model calls of a session and its subagents, and reports when a call beyond the limit is due. Every tool that an
 * answer asks for leads to another call, so the first tool of the last permitted answer exceeds the limit. Codex reports the
 * tokens of a call after the answer and its tools are complete; anything that starts after that belongs to the thread's next
 * call. A tool without events is detected one call later, by that call's first item.
 */
export class CallCounter {
  readonly #limit: number;
  #reported = 0;
  /** Threads with items of a call whose tokens were not reported yet. */
  readonly #answering = new Set<string>();

  constructor(limit: number = Number.POSITIVE_INFINITY) {
    this.#limit = limit;
  }

  /** Model calls so far. */
  get calls(): number {
    return this.#reported + this.#answering.size;
  }

  /** Records the tokens of a call. Codex repeats a count without a call (`grown` is false), for example on an interrupt. */
  recordUsage(threadId: string, grown: boolean): boolean {
    if (this.#answering.delete(threadId) || grown) this.#reported += 1;
    return this.calls > this.#limit;
  }

  /** Records any other event. Returns true if the calls are used up and the turn continues. */
  recordItem(event: CodexEvent): boolean {
    if (event.type !== "item.started") return false;
    const isTool = toToolItem(event.item) !== undefined;
    const isAnswer = isTool || event.item.type === "agentMessage" || event.item.type === "reasoning";
    if (!isAnswer) return false;
    this.#answering.add(event.threadId);
    return this.calls > this.#limit || (isTool && this.calls === this.#limit);
  }
}
