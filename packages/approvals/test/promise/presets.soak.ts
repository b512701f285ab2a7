// A long promise test: 210,000 scripts, or SOAK_CASES, in batches with separate seeds.
import { expect, test } from "vitest";
import { CHECKED_PRESETS, checkPromise } from "./check-promises.ts";

const CASES = Number(process.env["SOAK_CASES"] ?? 210_000);
const BATCH = Math.min(5_000, Math.ceil(CASES / CHECKED_PRESETS.length));
const BATCHES = Math.ceil(CASES / CHECKED_PRESETS.length / BATCH);

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
