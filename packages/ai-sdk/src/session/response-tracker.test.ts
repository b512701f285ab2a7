import type { CodexEvent } from "codexkit";
import { describe, expect, it } from "vitest";
import { ResponseTracker } from "./response-tracker.ts";

const notice = (method: string, params: object = {}): CodexEvent => ({
  type: "notice",
  raw: { method, params },
});

const written = (callId: string, name = "add"): CodexEvent =>
  notice("rawResponseItem/completed", { item: { type: "function_call", call_id: callId, name } });

const ended = notice("rawResponse/completed");

function tracker(...events: CodexEvent[]): ResponseTracker {
  const responses = new ResponseTracker((name) => name === "add");
  for (const event of events) responses.observe(event);
  return responses;
}

describe("a response of the model", () => {
  it("is settled once it has ended and its calls have been requested, in either order", () => {
    const early = tracker(written("1"));
    early.onRequested("1");
    expect(early.isSettled).toBe(false);
    early.observe(ended);
    expect(early.isSettled).toBe(true);
    const late = tracker(written("1"), written("2"), ended);
    late.onRequested("1");
    expect(late.isSettled).toBe(false);
    late.onRequested("2");
    expect(late.isSettled).toBe(true);
  });

  it("does not wait for calls that Codex runs by itself, nor for a call that ends without a request", () => {
    expect(tracker(written("1", "exec_command"), ended).isSettled).toBe(true);
    const item = { type: "dynamicToolCall", id: "2" };
    const completed = { type: "item.completed", threadId: "t", turnId: "u", item } as unknown as CodexEvent;
    expect(tracker(written("2"), ended, completed).isSettled).toBe(true);
  });

  it("is settled in a thread without raw events", () => {
    expect(tracker().isSettled).toBe(true);
  });
});
