import type {
  ActivityEvent,
  AgentCost,
  AgentErrorCode,
  AgentEvent,
  ErrorSubtype,
  TerminalEvent,
  ToolUseEvent,
} from "../contract/agent-event.ts";
import type { AgentHandle, ProviderCallOptions } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import { addCosts } from "../contract/add-costs.ts";
import { EventStream } from "../contract/event-stream.ts";
import type { IgnoredField } from "../contract/ignored-field.ts";
import { ProviderError } from "../contract/provider-error.ts";
import { errorEvent, failedResult } from "../contract/session-end.ts";
import type { StubClock } from "./stub-clock.ts";
import { say, type StubStep } from "./stub-script.ts";

export interface StubHandleOptions {
  readonly sessionId: string;
  readonly script: readonly StubStep[];
  readonly ignored: readonly IgnoredField[];
  readonly clock: StubClock;
  readonly limits: Pick<AgentSpec, "maxTurns" | "maxTokens" | "maxCostUsd" | "timeoutMs">;
  readonly injects: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called once at the end. */
  readonly onEnd: (handle: StubHandle) => void;
}

/** Runs a script. */
export class StubHandle implements AgentHandle {
  readonly sessionId: string;
  readonly ignored: readonly IgnoredField[];
  readonly #options: StubHandleOptions;
  readonly #stream: EventStream;
  readonly #over = new AbortController();
  readonly #injected: string[] = [];
  readonly #openTools = new Map<string, ToolUseEvent>();
  #onInjected: (() => void) | undefined;
  #cost: AgentCost = {};

  constructor(options: StubHandleOptions) {
    const { sessionId, ignored, clock, limits, signal } = options;
    const { timeoutMs } = limits;
    this.sessionId = sessionId;
    this.ignored = ignored;
    this.#options = options;
    this.#stream = new EventStream(
      { kind: "init", sessionId, ignored },
      { onAbandoned: () => this.#release() },
    );
    const cancel = (): void => this.cutOff("context_cancelled", "The caller's signal was aborted.");
    signal?.addEventListener("abort", cancel, { signal: this.#over.signal });
    if (timeoutMs !== undefined) {
      void clock
        .wait(timeoutMs, this.#over.signal)
        .then(() =>
          this.#fail("deadline_exceeded", `The session took longer than ${timeoutMs} ms (timeoutMs).`),
        );
    }
    void this.#play();
  }

  get events(): AsyncIterable<AgentEvent> {
    return this.#stream;
  }

  inject(text: string, { signal }: ProviderCallOptions = {}): Promise<void> {
    const refused = this.#refusal(signal);
    if (refused) return Promise.reject(refused);
    this.#stream.push({ kind: "system", subtype: "injected", message: text });
    this.#injected.push(text);
    this.#onInjected?.();
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#fail("stopped", "The session was stopped.");
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Ends the session with an error, unless it has ended. */
  cutOff(code: AgentErrorCode, message: string): void {
    this.#end(errorEvent(code, message, this.#cost));
  }

  #end(event: TerminalEvent): void {
    // A result requires every tool to have ended; an error leaves its tools open.
    for (const tool of event.kind === "result" ? this.#openTools.values() : []) {
      const { toolUseId, toolName } = tool;
      const content = "The session ended before the tool did.";
      this.#stream.push({ kind: "tool_result", toolUseId, toolName, content, isError: true });
    }
    if (this.#stream.end(event)) this.#release();
  }

  #emit(event: ActivityEvent): void {
    if (event.kind === "tool_use") this.#openTools.set(event.toolUseId, event);
    if (event.kind === "tool_result") this.#openTools.delete(event.toolUseId);
    this.#stream.push(event);
  }

  async #play(): Promise<void> {
    for (const step of this.#options.script) {
      // One step per event-loop iteration, so that the caller can stop the session before the first one.
      await Promise.resolve();
      if (this.#stream.ended) return;
      await this.#do(step);
    }
  }

  async #do(step: StubStep): Promise<void> {
    const { clock } = this.#options;
    switch (step.do) {
      case "emit":
        return this.#emit(step.event);
      case "callModel":
        return this.#callModel(step.cost);
      case "wait":
        return clock.wait(step.ms, this.#over.signal);
      case "echo":
        return this.#echo();
      case "hang":
        return this.#untilOver();
      case "succeed":
        return this.#end({
          kind: "result",
          success: true,
          message: step.message,
          errors: [],
          cost: this.#cost,
        });
      case "fail":
        return this.#end(failedResult(step.subtype, step.why, { reason: step.reason, cost: this.#cost }));
      case "break":
        return this.cutOff("provider_failed", step.message);
    }
  }

  #callModel(cost: AgentCost): void {
    const { maxTurns, maxTokens, maxCostUsd } = this.#options.limits;
    if (maxTurns !== undefined && (this.#cost.turns ?? 0) >= maxTurns)
      return this.#fail("max_turns", `The session used up its ${maxTurns} model calls (maxTurns).`);
    this.#cost = addCosts(this.#cost, cost);
    this.#stream.push({ kind: "usage", cost: this.#cost });
    const { inputTokens = 0, outputTokens = 0, usd = 0 } = this.#cost;
    const tokens = inputTokens + outputTokens;
    if (maxTokens !== undefined && tokens > maxTokens)
      this.#fail(
        "budget_exceeded",
        `The session used ${tokens} tokens, more than its ${maxTokens} (maxTokens).`,
      );
    else if (maxCostUsd !== undefined && usd > maxCostUsd)
      this.#fail("budget_exceeded", `The session cost ${usd} USD, more than its ${maxCostUsd} (maxCostUsd).`);
  }

  async #echo(): Promise<void> {
    const injected = Promise.withResolvers<void>();
    this.#onInjected = injected.resolve;
    if (this.#injected.length === 0) await Promise.race([injected.promise, this.#untilOver()]);
    const text = this.#injected.shift();
    if (text === undefined) return;
    for (const step of say(`echo-${text}`, text)) await this.#do(step);
  }

  #untilOver(): Promise<void> {
    const { signal } = this.#over;
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  }

  #fail(errorSubtype: ErrorSubtype, why: string): void {
    this.#end(failedResult(errorSubtype, why, { cost: this.#cost }));
  }

  #refusal(signal: AbortSignal | undefined): ProviderError | undefined {
    if (!this.#options.injects)
      return new ProviderError("unsupported", "This stub does not accept injections.");
    if (this.#stream.ended)
      return new ProviderError("session_ended", `The session "${this.sessionId}" has ended.`);
    if (!signal?.aborted) return undefined;
    return new ProviderError("context_cancelled", "The caller's signal was aborted.", {
      cause: signal.reason,
    });
  }

  #release(): void {
    this.#over.abort();
    this.#options.onEnd(this);
  }
}
