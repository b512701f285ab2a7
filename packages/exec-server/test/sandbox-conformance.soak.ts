// As sandbox-conformance.test.ts, with many more profiles.
import { expect, test } from "vitest";
import { compareFileOperations, compareServers } from "./sandbox-verdicts.ts";

const LIMIT_MS = 3_600_000;

test("a sandbox gives the same verdicts as Codex's own", { timeout: LIMIT_MS }, async () => {
  const { cases, unexplained } = await compareServers([{ firstSeed: 100_000, profiles: 1_000, actions: 20 }]);
  expect(unexplained).toEqual([]);
  expect(cases).toBe(20_000);
});

test("file operations get the verdicts of commands", { timeout: LIMIT_MS }, async () => {
  const { cases, unexplained } = await compareFileOperations([
    { firstSeed: 200_000, profiles: 500, actions: 20 },
  ]);
  expect(unexplained).toEqual([]);
  expect(cases).toBeGreaterThan(5_000);
});
