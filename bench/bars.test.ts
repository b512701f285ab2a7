import { describe, expect, it } from "vitest";

import { evaluateBar, objectionToBar, type Bar } from "./bars.ts";
import type { Measure } from "./units.ts";

const speed: Measure = { name: "throughput", unit: "msg/s", better: "higher" };
const time: Measure = { name: "time", unit: "ms", better: "lower" };

function evaluate(
  bar: Partial<Bar> & Pick<Bar, "limit">,
  measure: Measure,
  samples: Record<string, number[]>,
) {
  return evaluateBar({ measure: measure.name, of: "ours", ...bar }, measure, (name) => samples[name] ?? []);
}

describe("evaluateBar", () => {
  it("compares a speed with a share of the floor", () => {
    const bar = { against: "floor", limit: { atLeast: 0.7 } };
    expect(evaluate(bar, speed, { ours: [70], floor: [100] })).toMatchObject({ pass: true, actual: 0.7 });
    expect(evaluate(bar, speed, { ours: [69], floor: [100] })).toMatchObject({
      pass: false,
      text: "≥ 70% of floor",
      actualText: "69% of floor",
    });
  });

  it("compares a time with a multiple of the floor", () => {
    const bar = { against: "floor", limit: { atMost: 3 } };
    expect(evaluate(bar, time, { ours: [30], floor: [10] })).toMatchObject({
      pass: true,
      text: "≤ 3 × floor",
    });
    expect(evaluate(bar, time, { ours: [31], floor: [10] })).toMatchObject({
      pass: false,
      actualText: "3.1 × floor",
    });
  });

  it("uses the median of the rounds' quotients, not the quotient of the medians", () => {
    // In each round ours is twice the peer, while the machine slows down to a third.
    const samples = { ours: [60, 40, 20], peer: [30, 20, 10] };
    expect(evaluate({ against: "peer", limit: { atLeast: 2 } }, speed, samples).pass).toBe(true);
    // One disturbed round changes neither.
    expect(
      evaluate({ against: "peer", limit: { atLeast: 2 } }, speed, { ...samples, ours: [60, 40, 1] }).actual,
    ).toBe(2);
  });

  it("treats a limit without a contestant as a value in the unit", () => {
    expect(evaluate({ limit: { atMost: 5 } }, time, { ours: [4, 5, 90] })).toMatchObject({
      pass: true,
      text: "≤ 5 ms",
    });
    expect(evaluate({ limit: { atLeast: 5000 } }, speed, { ours: [4999] })).toMatchObject({
      pass: false,
      text: "≥ 5,000 msg/s",
      actualText: "4,999 msg/s",
    });
  });

  it("names the contestant if the bar is not on ours", () => {
    const bar = { of: "streamed", against: "floor", limit: { atLeast: 0.5 } };
    expect(evaluate(bar, speed, { streamed: [1], floor: [1] }).text).toBe("streamed ≥ 50% of floor");
  });

  it("fails a bar that could not be measured", () => {
    for (const limit of [{ atLeast: 0 }, { atMost: 9 }]) {
      expect(evaluate({ against: "floor", limit }, time, { ours: [0], floor: [0] }).pass).toBe(false);
    }
  });
});

describe("objectionToBar", () => {
  const bar: Bar = { measure: "time", of: "ours", against: "floor", limit: { atMost: 2 } };
  const objection = (change: Partial<Bar>) =>
    objectionToBar({ ...bar, ...change }, [speed, time], ["ours", "floor"]);

  it("accepts a bar that fits its row", () => {
    expect(objection({})).toBeUndefined();
    expect(objection({ measure: "throughput", limit: { atLeast: 0.5 } })).toBeUndefined();
  });

  it("rejects a limit in the wrong direction", () => {
    expect(objection({ limit: { atLeast: 2 } })).toContain("lower is better");
    expect(objection({ measure: "throughput" })).toContain("higher is better");
  });

  it("rejects unknown names and limits that are not numbers", () => {
    expect(objection({ measure: "size" })).toContain('"size"');
    expect(objection({ against: "unknown" })).toContain('"unknown"');
    expect(objection({ of: "unknown" })).toContain('"unknown"');
    expect(objection({ limit: { atMost: Number.NaN } })).toContain("finite");
  });
});
