import type { CodexEvent, Turn } from "codexkit";
import { setImmediate } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ClientRequestBroker } from "../requests/client-request-broker.ts";
import type { TurnParts } from "../stream/turn-parts.ts";
import { AI_SDK_LIMITS } from "../limits.ts";
import { TurnRun } from "./turn-run.ts";

/** A turn whose model has written a call to `add` and nothing since. */
function unfinishedTurn(): Turn<unknown> {
  const item = { type: "function_call", call_id: "1", name: "add" };
  const written = { type: "notice", raw: { method: "rawResponseItem/completed", params: { item } } };
  return {
    result: () => new Promise(() => {}),
    async *[Symbol.asyncIterator](): AsyncGenerator<CodexEvent> {
      yield written as CodexEvent;
      await new Promise(() => {});
    },
  } as unknown as Turn<unknown>;
}

describe("a tool call of a response that never ends", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("is reported after a limited wait", async () => {
    const broker = new ClientRequestBroker();
    broker.serve({ tools: [{ name: "add" }] });
    using _open = broker.openForTurn();
    const run = new TurnRun({
      turn: unfinishedTurn(),
      turnId: "turn",
      broker,
      parts: {} as TurnParts,
      modelId: "model",
      begunWith: {},
    });
    expect(await run.next()).toMatchObject({ type: "event" });
    const { signal } = new AbortController();
    void broker.callTool({ kind: "tool", id: "1", toolName: "add", input: {} }, signal);
    const reported = vi.fn<(next: unknown) => void>();
    const next = run.next().then(reported);
    await setImmediate();
    await setImmediate();
    expect(reported).not.toHaveBeenCalled();
    vi.advanceTimersByTime(AI_SDK_LIMITS.responseEndMs);
    await next;
    expect(reported).toHaveBeenCalledWith({
      type: "requests",
      requests: [expect.objectContaining({ id: "1" })],
    });
    run.end();
  });
});
