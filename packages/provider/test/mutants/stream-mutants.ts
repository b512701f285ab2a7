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
    fault: "begins without init",
    mutate: ofKind("init", () => []),
    caughtBy: "init-first",
    reason: /first event should be "init", but is "usage"/,
  },
  {
    fault: "gives init twice",
    mutate: ofKind("init", (init) => [init, init]),
    caughtBy: "init-first",
    reason: /one "init", but there are 2/,
  },
  {
    fault: "names another session in init",
    mutate: ofKind("init", (init) => [{ ...init, sessionId: "another" }]),
    caughtBy: "init-first",
    reason: /has the session id "another"/,
  },
  {
    fault: "begins resumed sessions without init",
    mutate: ofKind("init", () => [], "resume"),
    caughtBy: "init-first",
    after: ["resume-keeps-id"],
    reason: /in the session that resume-keeps-id opened with resume\(\)/,
  },
  {
    fault: "ends without a last event",
    mutate: ofKind("result", () => []),
    caughtBy: "one-terminal",
    reason: /there are 0/,
  },
  {
    fault: "gives its last event twice",
    mutate: ofKind("result", (result) => [result, result]),
    caughtBy: "one-terminal",
    reason: /there are 2: .*result, result/,
  },
  {
    fault: "gives an error after the result of a session that was stopped",
    mutate: events((event) =>
      isStopped(event) ? [event, errorEvent("provider_failed", "It was stopped.", {})] : [event],
    ),
    caughtBy: "one-terminal",
    after: ["stop-ends-stream"],
    reason: /there are 2|there should be one/,
  },
  {
    fault: "says something after its result",
    mutate: ofKind("result", (result) => [result, TEXT]),
    caughtBy: "nothing-after-terminal",
    reason: /after "result" came assistant_text/,
  },
  {
    fault: "reports usage after the error of a session that was cancelled",
    mutate: ofKind("error", (error) => [error, { kind: "usage", cost: error.cost }]),
    caughtBy: "nothing-after-terminal",
    after: ["signal-ends-work"],
    reason: /after "error" came usage, in the session that signal-ends-work/,
  },
  {
    fault: "gives events of a kind of its own",
    mutate: ofKind("init", (init) => [init, { kind: "debug", text: "hello" }]),
    caughtBy: "events-well-formed",
    reason: /"debug" does not match the contract/,
  },
  {
    fault: "does not tell the category of a tool",
    mutate: ofKind("tool_use", ({ toolCategory: _category, ...use }) => [use]),
    caughtBy: "events-well-formed",
    reason: /toolCategory/,
  },
  {
    fault: "does not tell why a stopped session did not succeed",
    mutate: ofKind("result", ({ errorSubtype: _subtype, ...result }) => [result]),
    caughtBy: "events-well-formed",
    after: ["stop-ends-stream"],
    reason: /`errorSubtype` is set exactly when/,
  },
  {
    fault: "gives a failure without words",
    mutate: ofKind("result", (result) => [{ ...result, errors: [] }]),
    caughtBy: "events-well-formed",
    after: ["stop-ends-stream"],
    reason: /`errors` is empty/,
  },
  {
    fault: "does not tell whether an error may pass",
    mutate: ofKind("error", ({ retryable: _retryable, ...error }) => [error]),
    caughtBy: "events-well-formed",
    after: ["abort-cancels"],
    reason: /retryable/,
  },
  {
    fault: "does not tell whether a failure may pass",
    mutate: ofKind("result", ({ retryable: _retryable, ...result }) => [result]),
    caughtBy: "events-well-formed",
    after: ["stop-ends-stream"],
    reason: /`retryable` is set exactly when/,
  },
  {
    fault: "calls a failure by a name of its own",
    mutate: ofKind("result", (result) => [result.success ? result : { ...result, errorSubtype: "halted" }]),
    caughtBy: "events-well-formed",
    after: ["stop-ends-stream"],
    reason: /errorSubtype/,
  },
  {
    fault: "gives an error without its cost",
    mutate: ofKind("error", ({ cost: _cost, ...error }) => [error]),
    caughtBy: "events-well-formed",
    after: ["abort-cancels"],
    reason: /cost/,
  },
  {
    fault: "gives text in parts instead of words",
    mutate: ofKind("assistant_text", (event) => [{ ...event, text: [event.text] }]),
    caughtBy: "events-well-formed",
    reason: /text/,
  },
  {
    fault: "gives fields that JSON drops",
    mutate: ofKind("result", (result) => [{ ...result, reason: undefined }]),
    caughtBy: "json-round-trip",
    reason: /"result" changes in a JSON round trip/,
  },
  {
    fault: "gives dates as the input of tools",
    mutate: ofKind("tool_use", (use) => [{ ...use, input: { at: new Date(0) } }]),
    caughtBy: "json-round-trip",
    reason: /"tool_use" changes in a JSON round trip/,
  },
  {
    fault: "gives numbers that JSON can't write",
    mutate: ofKind("tool_use", (use) => [{ ...use, input: 1n }]),
    caughtBy: "json-round-trip",
    reason: /BigInt/,
  },
  {
    fault: "counts less than no tokens",
    mutate: ofKind("result", (result) => [{ ...result, cost: { ...result.cost, outputTokens: -1 } }]),
    caughtBy: "usage-sane",
    reason: /outputTokens/,
  },
  {
    fault: "counts half a call of the model",
    mutate: ofKind("usage", (usage) => [{ ...usage, cost: { ...usage.cost, turns: 0.5 } }]),
    caughtBy: "usage-sane",
    reason: /the cost of "usage" is invalid: turns/,
  },
  {
    fault: "takes more tokens from the cache than went in",
    mutate: ofKind("result", (result) => [
      { ...result, cost: { ...result.cost, cachedInputTokens: 1_000_000 } },
    ]),
    caughtBy: "usage-sane",
    reason: /cachedInputTokens is larger/,
  },
  {
    fault: "gives the price of a cancelled session as not a number",
    mutate: ofKind("error", (error) => [{ ...error, cost: { ...error.cost, usd: Number.NaN } }]),
    caughtBy: "usage-sane",
    after: ["abort-cancels"],
    reason: /usd/,
  },
  {
    fault: "forgets the cost of a session that was cut off",
    mutate: ofKind("error", (error) => [{ ...error, cost: {} }]),
    caughtBy: "usage-grows",
    after: ["signal-ends-work"],
    reason: /inputTokens of "error" is undefined, but was 100/,
  },
  {
    fault: "reports each call of the model instead of the cost so far",
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
    fault: "counts less in the result than before it",
    mutate: ofKind("result", (result) => [{ ...result, cost: { ...result.cost, turns: 0 } }]),
    caughtBy: "usage-grows",
    reason: /turns of "result" is 0, but was 1/,
  },
  {
    fault: "does not tell the result of a tool",
    mutate: ofKind("tool_result", () => []),
    caughtBy: "tools-paired",
    reason: /there is no tool_result for shell/,
  },
  {
    fault: "tells the result of a tool twice",
    mutate: ofKind("tool_result", (result) => [result, result]),
    caughtBy: "tools-paired",
    reason: /which has no open tool_use/,
  },
  {
    fault: "tells the result of a tool before its use",
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
    fault: "calls a tool by another name when it ends",
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
    fault: "tells the progress of a tool that is not in use",
    mutate: ofKind("tool_progress", (progress) => [{ ...progress, toolUseId: "another" }]),
    caughtBy: "tools-paired",
    reason: /a tool_progress for "another"/,
  },
  {
    fault: "does not repeat its receipt in init",
    mutate: ofKind("init", (init) => [{ ...init, ignored: [] }]),
    caughtBy: "receipt-matches-init",
    after: ["receipt-is-valid"],
    reason: /differs from that of init/,
  },
  {
    fault: "swallows what the agent says",
    mutate: ofKind("assistant_text", () => []),
    caughtBy: "reports-text",
    reason: /should say "nonce-.*, but said ""/,
  },
  {
    fault: "says in one piece again what it has responseText in parts",
    mutate: ofKind("result", (result) => [{ kind: "assistant_text", text: result.message }, result]),
    caughtBy: "text-is-not-repeated",
    reason: /it was reported 2 times/,
  },
  {
    fault: "swallows what a resumed agent says",
    mutate: ofKind("assistant_text", () => [], "resume"),
    caughtBy: "reports-text-resumed",
    reason: /should say "nonce-/,
  },
  {
    fault: "calls a success a failure",
    mutate: ofKind("result", (result) => [
      { ...result, success: false, errorSubtype: "execution_failed", errors: ["no"], retryable: false },
    ]),
    caughtBy: "reports-text",
    reason: /it ended with .*execution_failed/,
  },
  {
    fault: "drops what a slow reader has not read",
    mutate: overridingHandles((handle) => ({ events: hasty(handle.events) })),
    caughtBy: "slow-reader",
    reason: /the slow reader should get|there should be one|first event/,
  },
  {
    fault: "lets several readers read",
    mutate: handles((handle) => {
      const reader = handle.events[Symbol.asyncIterator]();
      return overrideHandle(handle, { events: { [Symbol.asyncIterator]: () => reader } });
    }),
    caughtBy: "one-reader",
    reason: /"events_taken", but it was accepted/,
  },
  {
    fault: "lets several readers read a resumed session",
    mutate: handles((handle) => {
      const reader = handle.events[Symbol.asyncIterator]();
      return overrideHandle(handle, { events: { [Symbol.asyncIterator]: () => reader } });
    }, "resume"),
    caughtBy: "one-reader-resumed",
    reason: /"events_taken", but it was accepted/,
  },
  {
    fault: "keeps the last message to itself",
    mutate: ofKind("result", (result) => [{ ...result, message: "" }]),
    caughtBy: "result-has-message",
    reason: /but is ""/,
  },
  {
    fault: "puts into the result what the agent never said",
    mutate: ofKind("result", (result) => [{ ...result, message: "All is well." }]),
    caughtBy: "result-has-message",
    reason: /but is "All is well\."/,
  },
  {
    fault: "answers two reads at once with the same event",
    mutate: overridingHandles((handle) => ({ events: shared(handle.events) })),
    caughtBy: "concurrent-reads",
    reason: /returned init, init, init/,
  },
  {
    fault: "does not tell the cost during the session",
    mutate: ofKind("usage", () => []),
    caughtBy: "usage-is-reported",
    reason: /there was no usage event/,
  },
  {
    fault: "counts one call of the model however many there are",
    mutate: events((event) =>
      "cost" in event ? [{ ...event, cost: { ...event.cost, turns: 1 } }] : [event],
    ),
    caughtBy: "usage-is-reported",
    reason: /`turns` is 1/,
  },
  {
    fault: "gives events without end",
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
    fault: "refuses without saying whether a retry may help",
    mutate: refusing((error) => Object.assign(new Error(error.message), { code: error.code })),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /should have a boolean `retryable`/,
  },
  {
    fault: "refuses with errors that lose their message as JSON",
    mutate: refusing((error) =>
      Object.assign(new Error(error.message), { code: error.code, retryable: false }),
    ),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /loses its message as JSON/,
  },
  {
    fault: "refuses with what is not an error",
    mutate: refusing(({ code }) => ({ code, retryable: false })),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /not an Error/,
  },
  {
    fault: "refuses without a word",
    mutate: refusing(({ code }) => new ProviderError(code, "")),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /without a message/,
  },
  {
    fault: "gives every session the same words",
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
