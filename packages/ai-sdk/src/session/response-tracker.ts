import type { CodexEvent, v2 } from "codexkit";

/**
 * Tracks the model's responses during a turn through the thread's raw events. Codex requests each tool call of a response as soon
 * as the model has written it, so the first request does not show whether others follow. Resumed or copied threads have no raw
 * events; their responses always count as settled.
 */
export class ResponseTracker {
  #isOpen = false;
  /** Client tool calls that the model has written but Codex has not requested yet. */
  readonly #announced = new Set<string>();
  readonly #isClientTool: (name: string) => boolean;

  constructor(isClientTool: (name: string) => boolean) {
    this.#isClientTool = isClientTool;
  }

  /** Whether the response has ended and all its calls have been requested. */
  get isSettled(): boolean {
    return !this.#isOpen && this.#announced.size === 0;
  }

  observe(event: CodexEvent): void {
    // A call with invalid input ends without a request.
    if (event.type === "item.completed") this.#announced.delete(event.item.id);
    if (event.type !== "notice") return;
    const { method, params } = event.raw;
    if (method === "rawResponse/completed") this.#isOpen = false;
    if (method !== "rawResponseItem/completed") return;
    const { item } = params as v2.RawResponseItemCompletedNotification;
    if (item.type !== "function_call") return;
    this.#isOpen = true;
    if (this.#isClientTool(item.name)) this.#announced.add(item.call_id);
  }

  /** Called when a call has been requested from the client. */
  onRequested(callId: string): void {
    this.#announced.delete(callId);
  }
}
