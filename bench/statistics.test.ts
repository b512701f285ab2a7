import * as fc from "fast-check";
import { describe, expect, it } from "vitest";

import { median, medianRatio, percentile, ratios, spread } from "./statistics.ts";

const value = fc.double({ min: 1e-6, max: 1e12, noNaN: true });
const values = fc.array(value, { minLength: 1, maxLength: 60 });

describe("median", () => {
  it("has as many values below it as above it", () => {
    fc.assert(
      fc.property(values, (list) => {
        const middle = median(list);
        const below = list.filter((item) => item < middle).length;
        const above = list.filter((item) => item > middle).length;
        expect(Math.max(below, above)).toBeLessThanOrEqual(list.length / 2);
      }),
    );
  });

  it("does not depend on the order", () => {
    fc.assert(
      fc.property(values, (list) => {
        expect(median(list.toReversed())).toBe(median(list));
      }),
    );
  });

  it("is not affected by outliers in fewer than half of the rounds", () => {
    fc.assert(
      fc.property(value, fc.integer({ min: 1, max: 20 }), (usual, wild) => {
        const list = [...Array<number>(wild + 1).fill(usual), ...Array<number>(wild).fill(1e300)];
        expect(median(list)).toBe(usual);
      }),
    );
  });

  it("is the mean of the two middle values, without overflow", () => {
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([Number.MAX_VALUE, Number.MAX_VALUE])).toBe(Number.MAX_VALUE);
  });

  it("does not change its input and rejects an empty one", () => {
    const list = [3, 1, 2];
    median(list);
    expect(list).toEqual([3, 1, 2]);
    expect(() => median([])).toThrow(RangeError);
  });
});

describe("percentile", () => {
  it("is one of the values, and at least the fraction of all values do not exceed it", () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0.01, max: 1, noNaN: true }), (list, fraction) => {
        const result = percentile(list, fraction);
        expect(list).toContain(result);
        expect(list.filter((item) => item <= result).length).toBeGreaterThanOrEqual(fraction * list.length);
      }),
    );
  });

  it("is monotonic in the fraction", () => {
    const fraction = fc.double({ min: 0.01, max: 1, noNaN: true });
    fc.assert(
      fc.property(values, fraction, fraction, (list, one, other) => {
        expect(percentile(list, Math.min(one, other))).toBeLessThanOrEqual(
          percentile(list, Math.max(one, other)),
        );
      }),
    );
  });

  it("uses the nearest rank and rejects fractions outside (0, 1]", () => {
    const hundred = Array.from({ length: 100 }, (_, index) => index + 1);
    expect(percentile(hundred, 0.99)).toBe(99);
    expect(percentile(hundred, 1)).toBe(100);
    for (const wrong of [0, 1.01, Number.NaN]) expect(() => percentile(hundred, wrong)).toThrow(RangeError);
  });
});

describe("spread", () => {
  it("is zero for equal rounds and does not depend on the unit", () => {
    expect(spread([5, 5, 5])).toBe(0);
    expect(spread([0, 0, 0])).toBe(0);
    fc.assert(
      fc.property(values, (list) => {
        expect(spread(list.map((item) => item * 1024))).toBeCloseTo(spread(list), 9);
      }),
    );
  });
});

describe("medianRatio", () => {
  it("cancels drift that affects both sides of a round", () => {
    fc.assert(
      fc.property(values, fc.double({ min: 0.1, max: 10, noNaN: true }), (drift, factor) => {
        const ours = drift.map((speed) => speed * factor);
        expect(medianRatio(ours, drift)).toBeCloseTo(factor, 9);
      }),
    );
  });

  it("compares round by round", () => {
    expect(ratios([2, 9], [1, 3])).toEqual([2, 3]);
    expect(() => ratios([1], [1, 2])).toThrow(RangeError);
  });
});
