import type { AgentCost, AgentEvent, ErrorSubtype, TerminalEvent } from "../contract/agent-event.ts";
import type { AgentHandle, CallOptions } from "../contract/agent-provider.ts";
import { EventStream } from "../contract/event-stream.ts";
import type { IgnoredField } from "../contract/ignored-field.ts";
import { ProviderError } from "../contract/provider-error.ts";
import type { StubClock } from "./stub-clock.ts";
import { say, type StubStep } from "./stub-script.ts";

export interface StubHandleOptions {
  readonly sessionId: string;
  readonly script: readonly StubStep[];
  readonly ignored: readonly IgnoredField[];
  readonly clock: StubClock;
  readonly maxTurns: number | undefined;
  readonly timeoutMs: number | undefined;
  readonly injects: boolean;
  readonly signal: AbortSignal | undefined;
  /** Called once when it is over. */
  readonly onEnd: (handle: StubHandle) => void;
}

/** Plays a script. */
export class StubHandle implements AgentHandle {
  readonly sessionId: string;
  readonly ignored: readonly IgnoredField[];
  readonly #options: StubHandleOptions;
  readonly #stream: EventStream;
  readonly #over = new AbortController();
  readonly #injected: string[] = [];
  #heard: (() => void) | undefined;
  #cost: AgentCost = {};

  constructor(options: StubHandleOptions) {
    const { sessionId, ignored, clock, timeoutMs, signal } = options;
    this.sessionId = sessionId;
    this.ignored = ignored;
    this.#options = options;
    this.#stream = new EventStream(
      { kind: "init", sessionId, ignored },
      { onAbandoned: () => this.#release() },
    );
    const cancel = (): void => {
      this.end({ kind: "error", code: "context_cancelled", message: "The caller's signal fired." });
    };
    signal?.addEventListener("abort", cancel, { signal: this.#over.signal });
    if (timeoutMs !== undefined) {
      void clock
        .wait(timeoutMs, this.#over.signal)
        .then(() => this.#fail("deadline_exceeded", `It took longer than ${timeoutMs} ms.`));
    }
    void this.#play();
  }

  get events(): AsyncIterable<AgentEvent> {
    return this.#stream;
  }

  inject(text: string, { signal }: CallOptions = {}): Promise<void> {
    const refused = this.#refusal(signal);
    if (refused) return Promise.reject(refused);
    this.#stream.push({ kind: "system", subtype: "injected", message: text });
    this.#injected.push(text);
    this.#heard?.();
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#fail("stopped", "The session was stopped.");
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  /** Gives the last event, unless there was one. */
  end(event: TerminalEvent): void {
    if (this.#stream.end(event)) this.#release();
  }

  async #play(): Promise<void> {
    for (const step of this.#options.script) {
      // One step a round: whoever has the handle can stop it before the first one.
      await Promise.resolve();
      if (this.#stream.ended) return;
      await this.#do(step);
    }
  }

  async #do(step: StubStep): Promise<void> {
    const { clock, maxTurns } = this.#options;
    switch (step.do) {
      case "tell":
        return this.#stream.push(step.event);
      case "callModel":
        if (maxTurns !== undefined && (this.#cost.turns ?? 0) >= maxTurns)
          return this.#fail("max_turns", `The model may be called ${maxTurns} times.`);
        this.#cost = addCosts(this.#cost, step.cost);
        return;
      case "wait":
        return clock.wait(step.ms, this.#over.signal);
      case "echo":
        return this.#echo();
      case "hang":
        return this.#untilOver();
      case "succeed":
        return this.end({
          kind: "result",
          success: true,
          message: step.message,
          errors: [],
          cost: this.#cost,
        });
      case "fail":
        return this.end({ kind: "result", success: false, ...step.result, cost: this.#cost });
      case "break":
        return this.end({ kind: "error", code: "provider_failed", message: step.message });
    }
  }

  async #echo(): Promise<void> {
    const heard = Promise.withResolvers<void>();
    this.#heard = heard.resolve;
    if (this.#injected.length === 0) await Promise.race([heard.promise, this.#untilOver()]);
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
    this.end({
      kind: "result",
      success: false,
      message: "",
      errors: [why],
      errorSubtype,
      cost: this.#cost,
    });
  }

  #refusal(signal: AbortSignal | undefined): ProviderError | undefined {
    if (!this.#options.injects) return new ProviderError("unsupported", "This stub takes no injections.");
    if (this.#stream.ended)
      return new ProviderError("session_ended", `The session "${this.sessionId}" has ended.`);
    if (!signal?.aborted) return undefined;
    return new ProviderError("context_cancelled", "The caller's signal fired.", { cause: signal.reason });
  }

  #release(): void {
    this.#over.abort();
    this.#options.onEnd(this);
  }
}

function addCosts(one: AgentCost, other: AgentCost): AgentCost {
  const sum = (a = 0, b = 0): number => a + b;
  return {
    inputTokens: sum(one.inputTokens, other.inputTokens),
    cachedInputTokens: sum(one.cachedInputTokens, other.cachedInputTokens),
    outputTokens: sum(one.outputTokens, other.outputTokens),
    // Cents add up to what people expect.
    usd: Math.round(sum(one.usd, other.usd) * 1e6) / 1e6,
    turns: sum(one.turns, other.turns),
  };
}
