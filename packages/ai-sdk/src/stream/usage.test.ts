import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StepUsage } from "./usage.ts";

const tokens = (input: number, cached: number, written: number, output: number, reasoning: number) => ({
  totalTokens: input + output,
  inputTokens: input,
  cachedInputTokens: cached,
  cacheWriteInputTokens: written,
  outputTokens: output,
  reasoningOutputTokens: reasoning,
});

describe("a step's token counts", () => {
  it("include cache reads, cache writes and reasoning", () => {
    const usage = new StepUsage();
    usage.update(tokens(100, 30, 20, 10, 4));
    expect(usage.report()).toMatchObject({
      inputTokens: { total: 100, noCache: 50, cacheRead: 30, cacheWrite: 20 },
      outputTokens: { total: 10, text: 6, reasoning: 4 },
    });
  });

  it("are undefined instead of zero if nothing was counted", () => {
    const usage = new StepUsage();
    expect(usage.report().inputTokens.total).toBeUndefined();
    usage.update(tokens(1, 0, 0, 1, 0));
    usage.report();
    expect(usage.report().outputTokens.total).toBeUndefined();
  });

  it("add up to those of the turn, regardless of how it is split into steps", () => {
    const count = fc.nat(1000);
    fc.assert(
      fc.property(fc.array(fc.tuple(count, count, fc.boolean())), (responses) => {
        const usage = new StepUsage();
        let [input, output, counted] = [0, 0, 0];
        const report = (): void => {
          const { inputTokens, outputTokens } = usage.report();
          counted += (inputTokens.total ?? 0) + (outputTokens.total ?? 0);
        };
        for (const [moreInput, moreOutput, ends] of responses) {
          input += moreInput;
          output += moreOutput;
          usage.update(tokens(input, 0, 0, output, 0));
          if (ends) report();
        }
        report();
        expect(counted).toBe(input + output);
      }),
    );
  });
});
