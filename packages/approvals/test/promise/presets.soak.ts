// The promise test at length: 200,000 scripts, in batches with seeds of their own.
import { expect, test } from "vitest";
import { CHECKED_PRESETS, checkPromise } from "./check-promises.ts";

const BATCH = 5_000;
const BATCHES = 14;

test.each(CHECKED_PRESETS)("%s keeps its promise", { timeout: 4 * 3_600_000 }, async (preset) => {
  const first = Math.floor(Math.random() * 2 ** 30);
  let judged = 0;
  let accepted = 0;
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const result = await checkPromise({ preset, count: BATCH, seed: first + batch });
    judged += result.judged;
    accepted += result.accepted;
    expect({ seed: first + batch, violations: result.violations }).toEqual({
      seed: first + batch,
      violations: [],
    });
  }
  expect(judged).toBe(BATCH * BATCHES);
  expect(accepted).toBeGreaterThan(0);
});
