// Runs the suite on providers that are broken on purpose. Each fault must be detected by the check for it.
import { describe, expect, it } from "vitest";
import { CALL_MUTANTS } from "../../test/mutants/call-mutants.ts";
import { END_MUTANTS } from "../../test/mutants/end-mutants.ts";
import { EVENT_MUTANTS } from "../../test/mutants/event-mutants.ts";
import { FIELD_MUTANTS } from "../../test/mutants/field-mutants.ts";
import { RESUME_MUTANTS } from "../../test/mutants/resume-mutants.ts";
import { SIGNAL_MUTANTS } from "../../test/mutants/signal-mutants.ts";
import { STREAM_MUTANTS } from "../../test/mutants/stream-mutants.ts";
import { WORK_MUTANTS } from "../../test/mutants/work-mutants.ts";
import { referenceFixture } from "../../test/reference-fixture.ts";
import { ALL_CHECKS } from "./all-checks.ts";
import { runConformance } from "./run-conformance.ts";

const MUTANTS = [
  ...STREAM_MUTANTS,
  ...EVENT_MUTANTS,
  ...END_MUTANTS,
  ...SIGNAL_MUTANTS,
  ...WORK_MUTANTS,
  ...CALL_MUTANTS,
  ...RESUME_MUTANTS,
  ...FIELD_MUTANTS,
];

describe("the suite detects a provider that", () => {
  it.each(MUTANTS.map((mutant) => [mutant.fault, mutant] as const))("%s", async (_, mutant) => {
    const { make, options } = referenceFixture(mutant.mutate);
    const report = await runConformance(make, {
      ...options,
      only: [mutant.caughtBy, ...(mutant.after ?? [])],
      limits: { ...options.limits, ...mutant.limits },
    });
    const check = report.checks.find(({ id }) => id === mutant.caughtBy);
    expect(check).toMatchObject({ status: "failed", reason: expect.stringMatching(mutant.reason) });
  });

  it("is tested with at least a hundred mutants, each with a unique name", () => {
    expect(MUTANTS.length).toBeGreaterThanOrEqual(100);
    expect(new Set(MUTANTS.map(({ fault }) => fault)).size).toBe(MUTANTS.length);
  });

  it("names only checks that exist", () => {
    const ids = new Set(ALL_CHECKS.map(({ id }) => id));
    const named = MUTANTS.flatMap(({ caughtBy, after = [] }) => [caughtBy, ...after]);
    expect(named.filter((id) => !ids.has(id))).toEqual([]);
  });

  it("has a mutant for every check, except for the copies for resumed sessions", () => {
    const caught = new Set(MUTANTS.map(({ caughtBy }) => caughtBy.replace(/-resumed$/, "")));
    const unproven = ALL_CHECKS.map(({ id }) => id.replace(/-resumed$/, "")).filter((id) => !caught.has(id));
    expect([...new Set(unproven)]).toEqual([]);
  });
});
