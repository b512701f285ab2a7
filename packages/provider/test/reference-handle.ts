// The agent of the reference provider, and what it leaves behind.
import {
  type ActivityEvent,
  type AgentCost,
  type AgentErrorCode,
  type AgentHandle,
  type AgentSpec,
  type ProviderCallOptions,
  type ErrorSubtype,
  type IgnoredField,
  type TerminalEvent,
  errorEvent,
  EventStream,
  failedResult,
  ProviderError,
} from "../src/index.ts";

/** State that outlives a provider: stored sessions, and observable traces of agents. */
export interface ReferenceWorld {
  /** The prompts of each session, by session id. */
  readonly sessions: Map<string, readonly string[]>;
  /** Running sessions. */
  readonly working: Set<string>;
  /** Grows while an agent with the prompt `trace` works. */
  traces: number;
}

export function referenceWorld(): ReferenceWorld {
  return { sessions: new Map(), working: new Set(), traces: 0 };
}

const CALL: Required<AgentCost> = {
  inputTokens: 100,
  cachedInputTokens: 40,
  outputTokens: 10,
  usd: 0.5,
  turns: 1,
};

interface ReferenceSession {
  readonly sessionId: string;
  readonly spec: AgentSpec;
  readonly ignored: readonly IgnoredField[];
  readonly signal: AbortSignal | undefined;
  readonly world: ReferenceWorld;
}

export class ReferenceHandle implements AgentHandle {
  readonly sessionId: string;
  readonly ignored: readonly IgnoredField[];
  readonly events: EventStream;
  readonly #session: ReferenceSession;
  readonly #onEnd: () => void;
  readonly #over = new AbortController();
  readonly #injected = Promise.withResolvers<string>();
  readonly #openTools = new Map<string, string>();
  #cost: Required<AgentCost> = { inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, usd: 0, turns: 0 };

  constructor(session: ReferenceSession, onEnd: () => void) {
    const { sessionId, ignored, spec, signal } = session;
    this.sessionId = sessionId;
    this.ignored = ignored;
    this.#session = session;
    this.#onEnd = onEnd;
    this.events = new EventStream({ kind: "init", sessionId, ignored }, { onAbandoned: () => this.#rest() });
    const over = { signal: this.#over.signal };
    const cancel = (): void => this.cutOff("context_cancelled", "The signal of the session fired.");
    signal?.addEventListener("abort", cancel, over);
    if (spec.timeoutMs !== undefined) {
      const timer = setTimeout(() => this.#fail("deadline_exceeded", "The time is over."), spec.timeoutMs);
      this.#over.signal.addEventListener("abort", () => clearTimeout(timer));
    }
    void this.#work();
  }

  async inject(text: string, { signal }: ProviderCallOptions = {}): Promise<void> {
    if (this.events.ended) throw new ProviderError("session_ended", "The session has ended.");
    if (signal?.aborted) throw new ProviderError("context_cancelled", "The caller's signal fired.");
    this.events.push({ kind: "system", subtype: "injected", message: text });
    this.#injected.resolve(text);
  }

  async stop(): Promise<void> {
    this.#fail("stopped", "The session was stopped.");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  cutOff(code: AgentErrorCode, message: string): void {
    this.#end(errorEvent(code, message, this.#cost));
  }

  async #work(): Promise<void> {
    const { prompt } = this.#session.spec;
    const [order = "", ...rest] = prompt.split(" ");
    if (!this.#callModel()) return;
    await this.#perform(order, rest.join(" "));
  }

  async #perform(order: string, words: string): Promise<void> {
    const { spec, sessionId, world } = this.#session;
    switch (order) {
      case "say":
      case "remember":
        for (const part of [words.slice(0, 4), words.slice(4)]) this.#say(part);
        return this.#succeed(words);
      case "recall":
        return this.#answer((world.sessions.get(sessionId) ?? []).join(" "));
      case "work":
        return this.#use("build", "shell", "command");
      case "trace":
        return this.#leaveTraces();
      case "tool":
      case "twice":
        this.#use("tool-1", "shell", "command");
        this.events.push({
          kind: "tool_progress",
          toolUseId: "tool-1",
          toolName: "shell",
          elapsedSeconds: 0,
          output: "o",
        });
        this.#finishTool("tool-1", "ok", false);
        if (this.#callModel()) this.#answer("Done.");
        return;
      case "echo":
        return this.#answer(await Promise.race([this.#injected.promise, this.#untilOver()]));
      case "variable":
        return this.#answer(spec.env?.[words] ?? "not set");
      case "server":
        this.#use("mcp-1", "mcp__tests__echo", "mcp");
        this.#finishTool("mcp-1", "hello", false);
        return this.#answer("Done.");
      case "ask":
        return this.#ask();
      case "agent":
        return this.#delegate();
      default:
        return this.#answer(`I don't know "${order}".`);
    }
  }

  #ask(): void {
    const isAllowed = (this.#session.spec.permissionConfig?.defaultDecision ?? "allow") === "allow";
    this.#use("ask-1", "approval:command", "approval");
    this.#finishTool("ask-1", isAllowed ? "allow" : "deny", !isAllowed);
    if (!isAllowed) this.events.push({ kind: "system", subtype: "approval_denied", message: "make test" });
    this.#answer("Done.");
  }

  #delegate(): void {
    const subagent = { id: `${this.sessionId}/reviewer`, parentId: this.sessionId, name: "reviewer" };
    this.events.push({ kind: "assistant_text", text: "I reviewed it.", messageId: "reviewer-1", subagent });
    if (this.#callModel(subagent)) this.#answer("Done.");
  }

  #leaveTraces(): void {
    const { world } = this.#session;
    const timer = setInterval(() => (world.traces += 1), 1);
    this.#over.signal.addEventListener("abort", () => clearInterval(timer));
  }

  /** Returns false if the session has ended, for example because it reached a limit. */
  #callModel(subagent?: { id: string; parentId: string }): boolean {
    const { maxTurns = Infinity, maxTokens = Infinity, maxCostUsd = Infinity } = this.#session.spec;
    if (this.#cost.turns >= maxTurns) this.#fail("max_turns", "The model calls are used up.");
    if (this.events.ended) return false;
    this.#cost = {
      inputTokens: this.#cost.inputTokens + CALL.inputTokens,
      cachedInputTokens: this.#cost.cachedInputTokens + CALL.cachedInputTokens,
      outputTokens: this.#cost.outputTokens + CALL.outputTokens,
      usd: this.#cost.usd + CALL.usd,
      turns: this.#cost.turns + 1,
    };
    this.events.push({ kind: "usage", cost: this.#cost, model: "reference", ...(subagent && { subagent }) });
    const isOver =
      this.#cost.inputTokens + this.#cost.outputTokens > maxTokens || this.#cost.usd > maxCostUsd;
    if (isOver) this.#fail("budget_exceeded", "The budget is used up.");
    return !isOver;
  }

  #say(text: string): void {
    this.events.push({ kind: "assistant_text", text, messageId: "message-1" });
  }

  #answer(text: string | undefined): void {
    if (text === undefined) return;
    this.#say(text);
    this.#succeed(text);
  }

  #use(toolUseId: string, toolName: string, toolCategory: "command" | "mcp" | "approval"): void {
    this.#openTools.set(toolUseId, toolName);
    this.events.push({ kind: "tool_use", toolUseId, toolName, toolCategory, input: { value: 1 } });
  }

  #finishTool(toolUseId: string, content: string, isError: boolean): void {
    const toolName = this.#openTools.get(toolUseId) ?? "";
    this.#openTools.delete(toolUseId);
    const event: ActivityEvent = { kind: "tool_result", toolUseId, toolName, content, isError };
    this.events.push(event);
  }

  #succeed(message: string): void {
    this.#end({ kind: "result", success: true, message, errors: [], cost: this.#cost });
  }

  #fail(subtype: ErrorSubtype, why: string): void {
    this.#end(failedResult(subtype, why, { cost: this.#cost }));
  }

  #end(event: TerminalEvent): void {
    for (const toolUseId of this.#openTools.keys()) this.#finishTool(toolUseId, "The session ended.", true);
    if (this.events.end(event)) this.#rest();
  }

  #rest(): void {
    this.#over.abort();
    this.#onEnd();
  }

  async #untilOver(): Promise<undefined> {
    const { signal } = this.#over;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return undefined;
  }
}
