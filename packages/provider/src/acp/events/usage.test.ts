import { describe, expect, it } from "vitest";
import { usageOfPrompt } from "./usage.ts";

const COST = { inputTokens: 120, cachedInputTokens: 20, outputTokens: 30 };

describe("the usage of a prompt", () => {
  it.each([
    [
      "without cached tokens in the input",
      { inputTokens: 100, outputTokens: 30, totalTokens: 150, cachedReadTokens: 20, thoughtTokens: 0 },
    ],
    [
      "with cached tokens in the input",
      { inputTokens: 120, outputTokens: 30, totalTokens: 150, cachedReadTokens: 20 },
    ],
    [
      "without thoughts in the output",
      { inputTokens: 120, outputTokens: 15, totalTokens: 150, cachedReadTokens: 20, thoughtTokens: 15 },
    ],
    [
      "without either",
      { inputTokens: 100, outputTokens: 15, totalTokens: 150, cachedReadTokens: 20, thoughtTokens: 15 },
    ],
    ["without a total", { inputTokens: 120, outputTokens: 30, cachedReadTokens: 20 }],
  ])("counts everything once, from an agent that counts %s", (_, usage) => {
    expect(usageOfPrompt({ stopReason: "end_turn", usage })).toEqual(COST);
  });

  it("is read from the quota of agents that don't send it", () => {
    const quota = { token_count: { input_tokens: 120, output_tokens: 30 } };
    expect(usageOfPrompt({ stopReason: "end_turn", _meta: { quota } })).toEqual({
      inputTokens: 120,
      outputTokens: 30,
    });
  });

  it.each([
    [{}],
    [{ usage: null }],
    [{ usage: { inputTokens: -1, outputTokens: 2 } }],
    [{ usage: { inputTokens: 0.5, outputTokens: 2 } }],
  ])("is unknown if it is absent or wrong: %j", (response) => {
    expect(usageOfPrompt(response)).toEqual({});
  });
});
