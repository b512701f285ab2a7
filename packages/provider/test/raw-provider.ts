// A sound provider written without the contract's EventStream, and the ways in which it can be broken: nothing here repairs
// what a fault does to the stream.
import type {
  AgentEvent,
  AgentHandle,
  AgentProvider,
  AgentSpec,
  CallOptions,
  SpecField,
} from "../src/index.ts";
import { errorEvent, failedResult, parseSpec, ProviderError } from "../src/index.ts";

/** One fault at a time. */
export type Fault =
  | "no-init"
  | "second-init"
  | "event-after-end"
  | "double-terminal"
  | "no-terminal"
  | "hangs"
  | "spawn-hangs"
  | "stop-hangs"
  | "stop-throws"
  | "endless-stream"
  | "deaf-injection"
  | "claims-injection-only"
  | "leaks-between-handles"
  | "forgets"
  | "invents-sessions"
  | "ignores-silently"
  | "takes-bad-specs"
  | "survives-shutdown"
  | "unpaired-tool"
  | "negative-usage"
  | "not-json"
  | "ignores-signal"
  | "many-readers"
  | "reader-cannot-leave"
  | "unproven-agents";

/** What an agent does, by the first word of its prompt. */
type Order = "say" | "work" | "tool" | "echo" | "remember" | "recall";

interface Live {
  readonly end: (event: AgentEvent) => void;
}

const COST = { inputTokens: 10, cachedInputTokens: 5, outputTokens: 1, usd: 0.5, turns: 1 };

export function rawProvider(fault?: Fault): AgentProvider {
  const memory = sharedMemory;
  const live = new Map<string, Live>();
  const heard: string[] = [];
  let shutDown = false;

  const start = async (
    sessionId: string,
    unchecked: AgentSpec,
    { signal }: CallOptions = {},
  ): Promise<AgentHandle> => {
    if (shutDown) throw new ProviderError("shut_down", "It was shut down.");
    if (fault === "spawn-hangs") return new Promise(() => {});
    const spec = fault === "takes-bad-specs" ? unchecked : parseSpec(unchecked);
    if (signal?.aborted && fault !== "ignores-signal")
      throw new ProviderError("context_cancelled", "The signal fired.");
    const ignored = fault === "ignores-silently" ? [] : ignoredOf(spec);
    if (ignored.some(({ field }) => spec.required?.includes(field)))
      throw new ProviderError("unsupported", "It is required.");
    if (fault === "ignores-silently" && spec.required?.includes("model"))
      throw new ProviderError("unsupported", "It is required.");
    memory.set(sessionId, [...(memory.get(sessionId) ?? []), spec.prompt ?? ""]);
    heard.push(spec.prompt ?? "");

    const ending = Promise.withResolvers<AgentEvent>();
    const injected = Promise.withResolvers<string>();
    let ended = false;
    const end = (event: AgentEvent): void => {
      ended = true;
      live.delete(sessionId);
      ending.resolve(event);
    };
    live.set(sessionId, { end });
    if (fault !== "ignores-signal")
      signal?.addEventListener("abort", () =>
        end(errorEvent("context_cancelled", "The signal fired.", COST)),
      );
    if (spec.timeoutMs !== undefined) {
      const timer = setTimeout(() => end(failed("deadline_exceeded")), spec.timeoutMs);
      void ending.promise.then(() => clearTimeout(timer));
    }

    async function* tell(): AsyncGenerator<AgentEvent> {
      const init: AgentEvent = { kind: "init", sessionId, ignored };
      if (fault !== "no-init") yield init;
      if (fault === "second-init") yield init;
      if (fault === "hangs") await new Promise(() => {});
      if (fault === "endless-stream") for (;;) yield words("on and on");
      yield* work();
      const last = await ending.promise;
      if (fault !== "no-terminal") yield last;
      if (fault === "double-terminal") yield last;
      if (fault === "event-after-end") yield words("one more thing");
    }

    async function* work(): AsyncGenerator<AgentEvent> {
      const [order, ...rest] = (spec.prompt ?? "").split(" ") as [Order, ...string[]];
      switch (order) {
        case "work":
          return;
        case "say":
        case "remember":
          yield words(fault === "leaks-between-handles" ? heard.join(" ") : rest.join(" "));
          break;
        case "tool":
          yield { kind: "tool_use", toolName: "t", toolUseId: "1", toolCategory: "other", input: {} };
          if (fault !== "unpaired-tool")
            yield { kind: "tool_result", toolName: "t", toolUseId: "1", content: "", isError: false };
          break;
        case "echo": {
          const text = await Promise.race([injected.promise, ending.promise]);
          if (typeof text === "string") yield words(text);
          break;
        }
        case "recall":
          yield words(fault === "forgets" ? "I forgot" : (memory.get(sessionId) ?? []).join(" "));
          break;
      }
      end(succeeded(fault));
    }

    const told = tell();
    let taken = false;
    const once: AsyncIterable<AgentEvent> = {
      [Symbol.asyncIterator]: () => {
        if (taken && fault !== "many-readers") throw new ProviderError("events_taken", "It has a reader.");
        taken = true;
        return {
          next: () => told.next(),
          return: async () => {
            if (fault === "reader-cannot-leave") return { done: true, value: undefined };
            end(failed("stopped"));
            return told.return(undefined);
          },
        };
      },
    };
    const stop = async (): Promise<void> => {
      if (fault === "stop-hangs") await new Promise(() => {});
      if (fault === "stop-throws") throw new Error("It does not stop.");
      if (!ended) end(failed("stopped"));
    };
    return {
      sessionId,
      ignored,
      events: once,
      stop,
      inject: async (text) => {
        if (fault === "claims-injection-only") throw new ProviderError("unsupported", "It can't.");
        if (ended) throw new ProviderError("session_ended", "It has ended.");
        if (fault !== "deaf-injection") injected.resolve(text);
      },
      [Symbol.asyncDispose]: stop,
    };
  };

  const shutdown = async (): Promise<void> => {
    shutDown = fault !== "survives-shutdown";
    for (const { end } of live.values()) end(errorEvent("provider_shutdown", "", COST));
  };
  return {
    name: `raw${fault === undefined ? "" : `, ${fault}`}`,
    capabilities: {
      supportsMessageInjection: true,
      supportsSessionResume: true,
      supportsSessionExport: false,
      supportsToolPlugins: false,
      needsBaseInstructions: false,
      needsPermissionConfig: false,
      supportsCodeIntelligenceEnforcement: false,
      emitsSubagentEvents: fault === "unproven-agents",
      supportsReasoningEffort: false,
      toolPermissionFormat: "codex",
      acceptsAllowedToolsList: false,
      acceptsMcpServerSpec: false,
      humanLabel: "Raw",
    },
    spawn: (spec, options) => start(crypto.randomUUID(), spec, options),
    resume: async (sessionId, spec, options) => {
      if (shutDown) throw new ProviderError("shut_down", "It was shut down.");
      if (!memory.has(sessionId) && fault !== "invents-sessions")
        throw new ProviderError("session_not_found", "There is none.");
      if (live.has(sessionId)) throw new ProviderError("session_busy", "It is at work.");
      return start(sessionId, spec, options);
    },
    export: async () => {
      throw new ProviderError("unsupported", "It does not export.");
    },
    import: async () => {
      throw new ProviderError("unsupported", "It does not import.");
    },
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}

/** Sessions outlive their provider, as they do on a disk. */
const sharedMemory = new Map<string, readonly string[]>();

function words(text: string): AgentEvent {
  return { kind: "assistant_text", text };
}

function succeeded(fault: Fault | undefined): AgentEvent {
  const cost = fault === "negative-usage" ? { ...COST, outputTokens: -1 } : COST;
  const reason = fault === "not-json" ? { reason: undefined } : {};
  return { kind: "result", success: true, message: "", errors: [], cost, ...(reason as object) };
}

function failed(errorSubtype: "stopped" | "deadline_exceeded"): AgentEvent {
  return failedResult(errorSubtype, "It was ended.", { cost: COST });
}

function ignoredOf(spec: AgentSpec): AgentHandle["ignored"] {
  const honoured = new Set(["prompt", "timeoutMs", "required"]);
  return Object.keys(spec)
    .filter((field) => !honoured.has(field))
    .map((field) => ({ field: field as SpecField, reason: "It is raw." }));
}
