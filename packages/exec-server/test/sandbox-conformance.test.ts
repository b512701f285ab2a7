// Generated profiles and actions, on our server and on Codex's own: the verdicts are the same, or the reason is known.
import { expect, test } from "vitest";
import { compareFileOperations, compareServers } from "./sandbox-verdicts.ts";

/** 25 sandboxes on each server with 20 actions each: seconds on a quiet machine. */
const LIMIT_MS = 240_000;

/** Found by the soak run. */
const ONCE_DIFFERENT = [100_091, 100_256, 100_491, 100_615, 100_652, 100_736, 100_904];

test("a sandbox gives the same verdicts as Codex's own", { timeout: LIMIT_MS }, async () => {
  const { cases, unexplained } = await compareServers([
    { firstSeed: 1, profiles: 25, actions: 20 },
    ...ONCE_DIFFERENT.map((firstSeed) => ({ firstSeed, profiles: 1, actions: 20 })),
  ]);
  expect(unexplained).toEqual([]);
  expect(cases).toBe(640);
});

/** Created paths that are denied from then on, missing paths with a rule, a refused command, and an empty disk. */
const ODD_PROFILES = [400_031, 400_040, 400_091, 400_103, 400_087, 400_276, 400_356, 400_421];

test("file operations get the verdicts of commands", { timeout: LIMIT_MS }, async () => {
  const { cases, unexplained } = await compareFileOperations([
    { firstSeed: 1, profiles: 10, actions: 20 },
    ...ODD_PROFILES.map((firstSeed) => ({ firstSeed, profiles: 1, actions: 20 })),
  ]);
  expect(unexplained).toEqual([]);
  expect(cases).toBeGreaterThan(100);
});
