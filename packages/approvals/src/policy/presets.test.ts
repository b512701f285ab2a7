// Tests each preset's promise by running the scripts that it accepts.
import { describe, expect, test } from "vitest";
import { canSandbox } from "../../test/promise/sandbox.ts";
import { CHECKED_PRESETS, checkPromise } from "../../test/promise/check-promises.ts";
import { PRESETS } from "./presets.ts";

/** Generated scripts per preset. About two fifths are accepted, and each of those runs in two shells. */
const COUNT = 350;

describe.runIf(canSandbox())("what a preset accepts keeps its promise", () => {
  // The same scripts in every run; `npm run soak` tries new ones.
  const seed = 1_540_160_779;

  test.each(CHECKED_PRESETS)(`%s (seed ${seed})`, { timeout: 300_000 }, async (preset) => {
    const { accepted, violations } = await checkPromise({ preset, count: COUNT, seed, withCorpora: true });
    expect(violations).toEqual([]);
    expect(accepted).toBeGreaterThan(COUNT / 10);
  });
});

test("every promise is one sentence", () => {
  for (const { promise } of Object.values(PRESETS)) expect(promise).toMatch(/^[A-Z][^.]*\.$/);
});
