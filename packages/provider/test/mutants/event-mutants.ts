import type { AgentEvent } from "../../src/index.ts";
import { handles, mapEvents, type Mutant, ofKind, overrideHandle } from "./mutate.ts";

/** Faults of single events: their fields, costs and tools. */
export const EVENT_MUTANTS: readonly Mutant[] = [
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
];
