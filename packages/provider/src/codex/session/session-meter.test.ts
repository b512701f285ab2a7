import type { CodexEvent, TokenUsage } from "codexkit";
import { createPricer } from "codexkit/options";
import { describe, expect, it } from "vitest";
import { SessionMeter, type SessionMeterOptions } from "./session-meter.ts";

function meter(options: Partial<SessionMeterOptions> = {}): SessionMeter {
  return new SessionMeter({ modelOf: (threadId) => (threadId === "agent" ? "small" : "large"), ...options });
}

function started(turnId: string, threadId = "thread"): CodexEvent {
  return { type: "turn.started", threadId, turnId };
}

/** The tokens of a turn so far. */
function used(turnId: string, inputTokens: number, threadId = "thread"): CodexEvent {
  const usage = { inputTokens, outputTokens: 10, cachedInputTokens: 0 } as TokenUsage;
  return { type: "usage.updated", threadId, turnId, usage, total: usage, contextWindow: null };
}

const PRICES = createPricer({
  large: { inputPerMillion: 1_000_000, outputPerMillion: 0 },
  other: { inputPerMillion: 2_000_000, outputPerMillion: 0 },
});

describe("a session meter", () => {
  it("counts only turns that started while the session was open, of all threads", () => {
    const one = meter();
    one.record(used("past", 1_000));
    const item = { type: "agentMessage", id: "m" };
    one.record({ type: "item.started", threadId: "thread", turnId: "past", item } as CodexEvent);
    expect(one.cost).toEqual({ inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, turns: 0 });
    for (const event of [started("a"), started("b", "agent"), used("a", 100), used("b", 50, "agent")])
      one.record(event);
    expect(one.cost).toMatchObject({ inputTokens: 150, outputTokens: 20, turns: 2 });
  });

  it("uses the latest count of a turn, and ignores a repeated one", () => {
    const one = meter();
    for (const event of [started("a"), used("a", 100), used("a", 250), used("a", 250)]) one.record(event);
    expect(one.cost).toMatchObject({ inputTokens: 250, outputTokens: 10, turns: 2 });
  });

  it("prices each call by the model that answered", () => {
    const one = meter({ pricer: PRICES });
    one.record(started("a"));
    one.record(used("a", 1));
    one.record({ type: "warning", kind: "model_rerouted", message: "", model: "other", threadId: "thread" });
    one.record(used("a", 2));
    expect(one.cost.usd).toBe(3);
  });

  it("ends a session with a budget of money when a model without a price is called", () => {
    const limited = meter({ pricer: PRICES, maxCostUsd: 1_000 });
    limited.record(started("b", "agent"));
    expect(limited.record(used("b", 1, "agent"))).toMatchObject({
      reason: "budget_exceeded",
      message: expect.stringContaining('"small", which has no price'),
    });
    const free = meter({ pricer: PRICES });
    free.record(started("b", "agent"));
    expect(free.record(used("b", 1, "agent"))).toBeUndefined();
    expect(free.cost).not.toHaveProperty("usd");
  });

  it("reports a budget of tokens once more than that is used", () => {
    const one = meter({ maxTokens: 110 });
    one.record(started("a"));
    expect(one.record(used("a", 100))).toBeUndefined();
    expect(one.record(used("a", 101))).toMatchObject({ reason: "budget_exceeded" });
  });
});
