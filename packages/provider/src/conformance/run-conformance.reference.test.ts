import { expect, it } from "vitest";
import { referenceFixture } from "../../test/reference-fixture.ts";
import { runConformance } from "./run-conformance.ts";

it("passes a conforming provider, and runs every check that its capabilities allow", async () => {
  const { make, options } = referenceFixture((provider) => provider);
  const report = await runConformance(make, options);
  expect(report.checks.filter(({ status }) => status === "failed")).toEqual([]);
  const skipped = report.checks.filter(({ status }) => status !== "passed").map(({ id }) => id);
  expect(skipped).toEqual(["injection-unsupported", "resume-unsupported", "export-unsupported"]);
});
