import type { AgentEvent } from "../../src/index.ts";
import { errorEvent, ProviderError } from "../../src/index.ts";
import {
  events,
  handles,
  mapEvents,
  type Mutant,
  ofKind,
  overrideHandle,
  overriding,
  overridingHandles,
  specs,
} from "./mutate.ts";

const TEXT: AgentEvent = { kind: "assistant_text", text: "one more thing" };
const isStopped = (event: AgentEvent): boolean => event.kind === "result" && event.errorSubtype === "stopped";

/** What is wrong with the events of a session. */
export const STREAM_MUTANTS: readonly Mutant[] = [
  {
    fault: "starts without init",
    mutate: ofKind("init", () => []),
    caughtBy: "init-first",
    reason: /first event should be "init", but is "usage"/,
  },
  {
    fault: "emits init twice",
    mutate: ofKind("init", (init) => [init, init]),
    caughtBy: "init-first",
    reason: /one "init", but there are 2/,
  },
  {
    fault: "has another session id in init",
    mutate: ofKind("init", (init) => [{ ...init, sessionId: "another" }]),
    caughtBy: "init-first",
    reason: /has the session id "another"/,
  },
  {
    fault: "starts resumed sessions without init",
    mutate: ofKind("init", () => [], "resume"),
    caughtBy: "init-first",
    after: ["resume-keeps-id"],
    reason: /in the session that resume-keeps-id opened with resume\(\)/,
  },
  {
    fault: "ends without a terminal event",
    mutate: ofKind("result", () => []),
    caughtBy: "one-terminal",
    reason: /there are 0/,
  },
  {
    fault: "emits its terminal event twice",
    mutate: ofKind("result", (result) => [result, result]),
    caughtBy: "one-terminal",
    reason: /there are 2: .*result, result/,
  },
  {
    fault: "emits an error after the result of a stopped session",
    mutate: events((event) =>
      isStopped(event) ? [event, errorEvent("provider_failed", "It was stopped.", {})] : [event],
    ),
    caughtBy: "one-terminal",
    after: ["stop-ends-stream"],
    reason: /there are 2|there should be one/,
  },
  {
    fault: "emits text after its result",
    mutate: ofKind("result", (result) => [result, TEXT]),
    caughtBy: "nothing-after-terminal",
    reason: /after "result" came assistant_text/,
  },
  {
    fault: "emits usage after the error of a cancelled session",
    mutate: ofKind("error", (error) => [error, { kind: "usage", cost: error.cost }]),
    caughtBy: "nothing-after-terminal",
    after: ["signal-ends-work"],
    reason: /after "error" came usage, in the session that signal-ends-work/,
  },
  {
    fault: "emits events of an unknown kind",
    mutate: ofKind("init", (init) => [init, { kind: "debug", text: "hello" }]),
    caughtBy: "events-well-formed",
    reason: /"debug" does not match the contract/,
  },
  {
    fault: "omits the category of a tool",
    mutate: ofKind("tool_use", ({ toolCategory: _category, ...use }) => [use]),
    caughtBy: "events-well-formed",
    reason: /toolCategory/,
  },
  {
    fault: "omits the errorSubtype of a stopped session",
    mutate: ofKind("result", ({ errorSubtype: _subtype, ...result }) => [result]),
    caughtBy: "events-well-formed",
    after: ["stop-ends-stream"],
    reason: /`errorSubtype` is set exactly when/,
  },
  {
    fault: "emits a failure without a message",
    mutate: ofKind("result", (result) => [{ ...result, errors: [] }]),
    caughtBy: "events-well-formed",
    after: ["stop-ends-stream"],
    reason: /`errors` is empty/,
  },
  {
    fault: "omits retryable of an error",
    mutate: ofKind("error", ({ retryable: _retryable, ...error }) => [error]),
    caughtBy: "events-well-formed",
    after: ["abort-cancels"],
    reason: /retryable/,
  },
  {
    fault: "omits retryable of a failure",
    mutate: ofKind("result", ({ retryable: _retryable, ...result }) => [result]),
    caughtBy: "events-well-formed",
    after: ["stop-ends-stream"],
    reason: /`retryable` is set exactly when/,
  },
  {
    fault: "emits an unknown errorSubtype",
    mutate: ofKind("result", (result) => [result.success ? result : { ...result, errorSubtype: "halted" }]),
    caughtBy: "events-well-formed",
    after: ["stop-ends-stream"],
    reason: /errorSubtype/,
  },
  {
    fault: "emits an error without its cost",
    mutate: ofKind("error", ({ cost: _cost, ...error }) => [error]),
    caughtBy: "events-well-formed",
    after: ["abort-cancels"],
    reason: /cost/,
  },
  {
    fault: "emits text that is not a string",
    mutate: ofKind("assistant_text", (event) => [{ ...event, text: [event.text] }]),
    caughtBy: "events-well-formed",
    reason: /text/,
  },
  {
    fault: "emits fields that JSON drops",
    mutate: ofKind("result", (result) => [{ ...result, reason: undefined }]),
    caughtBy: "json-round-trip",
    reason: /"result" changes in a JSON round trip/,
  },
  {
    fault: "emits dates as the input of tools",
    mutate: ofKind("tool_use", (use) => [{ ...use, input: { at: new Date(0) } }]),
    caughtBy: "json-round-trip",
    reason: /"tool_use" changes in a JSON round trip/,
  },
  {
    fault: "emits numbers that JSON can't represent",
    mutate: ofKind("tool_use", (use) => [{ ...use, input: 1n }]),
    caughtBy: "json-round-trip",
    reason: /BigInt/,
  },
  {
    fault: "reports a negative number of tokens",
    mutate: ofKind("result", (result) => [{ ...result, cost: { ...result.cost, outputTokens: -1 } }]),
    caughtBy: "usage-sane",
    reason: /outputTokens/,
  },
  {
    fault: "reports a fraction of a model call",
    mutate: ofKind("usage", (usage) => [{ ...usage, cost: { ...usage.cost, turns: 0.5 } }]),
    caughtBy: "usage-sane",
    reason: /the cost of "usage" is invalid: turns/,
  },
  {
    fault: "reports more cached tokens than input tokens",
    mutate: ofKind("result", (result) => [
      { ...result, cost: { ...result.cost, cachedInputTokens: 1_000_000 } },
    ]),
    caughtBy: "usage-sane",
    reason: /cachedInputTokens is larger/,
  },
  {
    fault: "reports NaN as the price of a cancelled session",
    mutate: ofKind("error", (error) => [{ ...error, cost: { ...error.cost, usd: Number.NaN } }]),
    caughtBy: "usage-sane",
    after: ["abort-cancels"],
    reason: /usd/,
  },
  {
    fault: "omits the cost so far of a session that was cut off",
    mutate: ofKind("error", (error) => [{ ...error, cost: {} }]),
    caughtBy: "usage-grows",
    after: ["signal-ends-work"],
    reason: /inputTokens of "error" is undefined, but was 100/,
  },
  {
    fault: "reports each model call instead of the cost so far",
    mutate: handles((handle) => {
      let calls = 0;
      const change = (event: AgentEvent): unknown[] => {
        if (event.kind !== "usage") return [event];
        calls += 1;
        return [{ ...event, cost: { ...event.cost, inputTokens: 200 - calls } }];
      };
      return overrideHandle(handle, { events: mapEvents(handle.events, change) });
    }),
    caughtBy: "usage-grows",
    after: ["usage-is-reported"],
    reason: /inputTokens of "usage" is 198, but was 199/,
  },
  {
    fault: "reports a lower cost in the result than before",
    mutate: ofKind("result", (result) => [{ ...result, cost: { ...result.cost, turns: 0 } }]),
    caughtBy: "usage-grows",
    reason: /turns of "result" is 0, but was 1/,
  },
  {
    fault: "omits the result of a tool",
    mutate: ofKind("tool_result", () => []),
    caughtBy: "tools-paired",
    reason: /there is no tool_result for shell/,
  },
  {
    fault: "emits the result of a tool twice",
    mutate: ofKind("tool_result", (result) => [result, result]),
    caughtBy: "tools-paired",
    reason: /which has no open tool_use/,
  },
  {
    fault: "emits the result of a tool before its use",
    mutate: ofKind("tool_use", (use) => [
      { kind: "tool_result", toolUseId: use.toolUseId, toolName: use.toolName, content: "", isError: false },
      use,
    ]),
    caughtBy: "tools-paired",
    reason: /which has no open tool_use/,
  },
  {
    fault: "uses one id for two tools",
    mutate: ofKind("tool_result", (result) => [
      result,
      { kind: "tool_use", toolUseId: result.toolUseId, toolName: "b", toolCategory: "other", input: {} },
    ]),
    caughtBy: "tools-paired",
    reason: /two tool_use events have the id "tool-1"/,
  },
  {
    fault: "changes the name of a tool in its result",
    mutate: ofKind("tool_result", (result) => [{ ...result, toolName: "unknown" }]),
    caughtBy: "tools-paired",
    reason: /has the tool name "unknown", but its tool_use has "shell"/,
  },
  {
    fault: "leaves the tool of a stopped session open",
    mutate: ofKind("tool_result", (result) => (result.toolUseId === "build" ? [] : [result])),
    caughtBy: "tools-paired",
    after: ["stop-ends-stream"],
    reason: /there is no tool_result for shell, in the session that stop-ends-stream/,
  },
  {
    fault: "emits progress of a tool that is not running",
    mutate: ofKind("tool_progress", (progress) => [{ ...progress, toolUseId: "another" }]),
    caughtBy: "tools-paired",
    reason: /a tool_progress for "another"/,
  },
  {
    fault: "omits the ignored fields in init",
    mutate: ofKind("init", (init) => [{ ...init, ignored: [] }]),
    caughtBy: "receipt-matches-init",
    after: ["receipt-is-valid"],
    reason: /differs from that of init/,
  },
  {
    fault: "drops the text of the agent",
    mutate: ofKind("assistant_text", () => []),
    caughtBy: "reports-text",
    reason: /should say "nonce-.*, but said ""/,
  },
  {
    fault: "repeats text as a whole message after its deltas",
    mutate: ofKind("result", (result) => [{ kind: "assistant_text", text: result.message }, result]),
    caughtBy: "text-is-not-repeated",
    reason: /it was reported 2 times/,
  },
  {
    fault: "drops the text of a resumed agent",
    mutate: ofKind("assistant_text", () => [], "resume"),
    caughtBy: "reports-text-resumed",
    reason: /should say "nonce-/,
  },
  {
    fault: "reports a success as a failure",
    mutate: ofKind("result", (result) => [
      { ...result, success: false, errorSubtype: "execution_failed", errors: ["no"], retryable: false },
    ]),
    caughtBy: "reports-text",
    reason: /it ended with .*execution_failed/,
  },
  {
    fault: "drops events of a slow reader",
    mutate: overridingHandles((handle) => ({ events: hasty(handle.events) })),
    caughtBy: "slow-reader",
    reason: /the slow reader should get|there should be one|first event/,
  },
  {
    fault: "allows several readers",
    mutate: handles((handle) => {
      const reader = handle.events[Symbol.asyncIterator]();
      return overrideHandle(handle, { events: { [Symbol.asyncIterator]: () => reader } });
    }),
    caughtBy: "one-reader",
    reason: /"events_taken", but it was accepted/,
  },
  {
    fault: "allows several readers of a resumed session",
    mutate: handles((handle) => {
      const reader = handle.events[Symbol.asyncIterator]();
      return overrideHandle(handle, { events: { [Symbol.asyncIterator]: () => reader } });
    }, "resume"),
    caughtBy: "one-reader-resumed",
    reason: /"events_taken", but it was accepted/,
  },
  {
    fault: "omits the last message from the result",
    mutate: ofKind("result", (result) => [{ ...result, message: "" }]),
    caughtBy: "result-has-message",
    reason: /but is ""/,
  },
  {
    fault: "has text in the result that the agent did not say",
    mutate: ofKind("result", (result) => [{ ...result, message: "All is well." }]),
    caughtBy: "result-has-message",
    reason: /but is "All is well\."/,
  },
  {
    fault: "returns the same event to two concurrent reads",
    mutate: overridingHandles((handle) => ({ events: shared(handle.events) })),
    caughtBy: "concurrent-reads",
    reason: /returned init, init, init/,
  },
  {
    fault: "does not report the cost during the session",
    mutate: ofKind("usage", () => []),
    caughtBy: "usage-is-reported",
    reason: /there was no usage event/,
  },
  {
    fault: "reports one model call, however many there were",
    mutate: events((event) =>
      "cost" in event ? [{ ...event, cost: { ...event.cost, turns: 1 } }] : [event],
    ),
    caughtBy: "usage-is-reported",
    reason: /`turns` is 1/,
  },
  {
    fault: "emits events without end",
    mutate: overridingHandles(() => ({
      events: {
        [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: false, value: TEXT }) }),
      },
    })),
    caughtBy: "reports-text",
    reason: /emitted more than 50 events/,
    limits: { events: 50 },
  },
  {
    fault: "rejects with errors without retryable",
    mutate: refusing((error) => Object.assign(new Error(error.message), { code: error.code })),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /should have a boolean `retryable`/,
  },
  {
    fault: "rejects with errors that lose their message as JSON",
    mutate: refusing((error) =>
      Object.assign(new Error(error.message), { code: error.code, retryable: false }),
    ),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /loses its message as JSON/,
  },
  {
    fault: "rejects with a value that is not an error",
    mutate: refusing(({ code }) => ({ code, retryable: false })),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /not an Error/,
  },
  {
    fault: "rejects with errors without a message",
    mutate: refusing(({ code }) => new ProviderError(code, "")),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /without a message/,
  },
  {
    fault: "emits the same text in every session",
    mutate: specs((spec) => ({
      ...spec,
      prompt: spec.prompt.startsWith("say") ? "say the same" : spec.prompt,
    })),
    caughtBy: "sessions-are-isolated",
    reason: /should say "nonce-/,
  },
];

/** A provider whose errors are changed before they are thrown. */
function refusing(change: (error: ProviderError) => unknown): Mutant["mutate"] {
  return overriding((provider) => ({
    spawn: async (spec, options) => {
      try {
        return await provider.spawn(spec, options);
      } catch (error) {
        throw change(error as ProviderError);
      }
    },
  }));
}

/** Reads ahead, and keeps only the newest two. */
function hasty(inner: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent> {
  const kept: AgentEvent[] = [];
  let isOver = false;
  const reading = (async () => {
    for await (const event of inner) {
      kept.push(event);
      if (kept.length > 2) kept.shift();
    }
    isOver = true;
  })();
  return {
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const event = kept.shift();
        if (event) yield event;
        else if (isOver) return;
        else await Promise.race([reading, new Promise((resolve) => setImmediate(resolve))]);
      }
    },
  };
}

/** Reads that wait at the same time get the same answer. */
function shared(inner: AsyncIterable<AgentEvent>): AsyncIterable<AgentEvent> {
  return {
    [Symbol.asyncIterator]: () => {
      const reader = inner[Symbol.asyncIterator]();
      let pending: Promise<IteratorResult<AgentEvent>> | undefined;
      return {
        next: () => (pending ??= reader.next().finally(() => (pending = undefined))),
        return: () => reader.return?.() ?? Promise.resolve({ done: true, value: undefined }),
      };
    },
  };
}
