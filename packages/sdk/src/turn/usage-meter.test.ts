import type { v2 } from "@codexkit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { tokens } from "../../test/notices.ts";
import { NO_TOKENS, type TokenUsage } from "../events/turn-result.ts";
import { UsageMeter } from "./usage-meter.ts";

function report(total: number | TokenUsage, last: number | TokenUsage): v2.ThreadTokenUsage {
  return {
    total: typeof total === "number" ? tokens(total) : total,
    last: typeof last === "number" ? tokens(last) : last,
    modelContextWindow: null,
  };
}

/** The tokens that a meter counts from these reports. */
function counted(before: number | undefined, ...reports: v2.ThreadTokenUsage[]): number {
  const meter = new UsageMeter(before === undefined ? undefined : tokens(before));
  for (const each of reports) meter.update(each);
  return meter.turn.totalTokens;
}

describe("UsageMeter", () => {
  it("has counted nothing before the first report", () => {
    expect(new UsageMeter(tokens(100)).turn).toEqual(NO_TOKENS);
  });

  it("counts the growth of the thread's total", () => {
    expect(counted(100, report(115, 15))).toBe(15);
  });

  it("counts both responses of a turn with a tool", () => {
    expect(counted(100, report(115, 15), report(145, 30))).toBe(45);
  });

  it("counts a repeated total once, as on an interrupt", () => {
    expect(counted(100, report(115, 15), report(115, 15), report(115, 15))).toBe(15);
  });

  it("counts only the last response if the total of a resumed thread is unknown", () => {
    expect(counted(undefined, report(1_015, 15), report(1_025, 10))).toBe(25);
  });

  it("counts a new thread from zero", () => {
    expect(counted(undefined, report(15, 15))).toBe(15);
  });

  it("counts the last response when totals start over after a compaction", () => {
    expect(counted(1_000, report(1_050, 50), report(20, 20), report(20, 20), report(50, 30))).toBe(100);
  });

  it("counts each kind of token separately", () => {
    const total = {
      totalTokens: 60,
      inputTokens: 40,
      cachedInputTokens: 30,
      cacheWriteInputTokens: 5,
      outputTokens: 20,
      reasoningOutputTokens: 7,
    };
    const meter = new UsageMeter(NO_TOKENS);
    meter.update(report(total, total));
    expect(meter.turn).toEqual(total);
  });

  it("keeps counting if the server omits a kind of token", () => {
    const { cacheWriteInputTokens: _, ...old } = tokens(10);
    const meter = new UsageMeter();
    meter.update(report(old as TokenUsage, old as TokenUsage));
    expect(meter.turn).toEqual(tokens(10));
  });

  it("counts the tokens of a turn's responses, whatever is repeated and wherever the turn starts", () => {
    const responses = fc.array(fc.record({ took: fc.nat(1_000), repeated: fc.nat(2) }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.nat(10_000), fc.boolean(), responses, (before, isKnown, turn) => {
        let total = before;
        const reports = turn.flatMap(({ took, repeated }) => {
          total += took;
          return Array<v2.ThreadTokenUsage>(repeated + 1).fill(report(total, took));
        });
        expect(counted(isKnown ? before : undefined, ...reports)).toBe(total - before);
      }),
    );
  });

  it("never counts backwards, whatever the totals do", () => {
    const reports = fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { maxLength: 20 });
    fc.assert(
      fc.property(fc.option(fc.nat(1_000), { nil: undefined }), reports, (before, all) => {
        const meter = new UsageMeter(before === undefined ? undefined : tokens(before));
        let soFar = 0;
        for (const [total, last] of all) {
          meter.update(report(total, last));
          expect(meter.turn.totalTokens).toBeGreaterThanOrEqual(soFar);
          soFar = meter.turn.totalTokens;
        }
      }),
    );
  });
});
