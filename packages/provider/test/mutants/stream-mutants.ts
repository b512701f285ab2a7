import { type AgentEvent, errorEvent, ProviderError } from "../../src/index.ts";
import {
  changingSpawnErrors,
  events,
  handles,
  type Mutant,
  ofKind,
  overrideHandle,
  overridingHandles,
  specs,
} from "./mutate.ts";

const TEXT: AgentEvent = { kind: "assistant_text", text: "one more thing" };
const isStopped = (event: AgentEvent): boolean => event.kind === "result" && event.errorSubtype === "stopped";

/** Faults of a session's stream (its order, texts and readers), and of errors. */
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
    mutate: changingSpawnErrors((error) => Object.assign(new Error(error.message), { code: error.code })),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /should have a boolean `retryable`/,
  },
  {
    fault: "rejects with errors that lose their message as JSON",
    mutate: changingSpawnErrors((error) =>
      Object.assign(new Error(error.message), { code: error.code, retryable: false }),
    ),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /loses its message as JSON/,
  },
  {
    fault: "rejects with a value that is not an error",
    mutate: changingSpawnErrors(({ code }) => ({ code, retryable: false })),
    caughtBy: "errors-well-formed",
    after: ["invalid-spec-refused"],
    reason: /not an Error/,
  },
  {
    fault: "rejects with errors without a message",
    mutate: changingSpawnErrors(({ code }) => new ProviderError(code, "")),
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

/** Reads ahead, and keeps only the newest two events. */
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

/** Answers concurrent reads with the same event. */
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
