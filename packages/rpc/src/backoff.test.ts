import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { overloadDelayMs } from "./backoff.ts";

describe("overloadDelayMs", () => {
  it("doubles from 20 ms to a ceiling of 2 s", () => {
    const longest = Array.from({ length: 10 }, (_, i) => overloadDelayMs(i + 1, () => 0));
    expect(longest).toEqual([20, 40, 80, 160, 320, 640, 1280, 2000, 2000, 2000]);
  });

  it("is between half of the ceiling and the ceiling, for any attempt and random value", () => {
    const luck = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), luck, (attempt, random) => {
        const ceiling = overloadDelayMs(attempt, () => 0);
        const delay = overloadDelayMs(attempt, () => random);
        expect(delay).toBeLessThanOrEqual(ceiling);
        expect(delay).toBeGreaterThanOrEqual(ceiling / 2);
        expect(ceiling).toBeLessThanOrEqual(2000);
      }),
    );
  });

  it("differs for callers refused together", () => {
    expect(overloadDelayMs(5, () => 0.1)).not.toBe(overloadDelayMs(5, () => 0.9));
  });
});
