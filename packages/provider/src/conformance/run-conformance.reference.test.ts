import { expect, it } from "vitest";
import { referenceFixture } from "../../test/reference-fixture.ts";
import { runConformance } from "./run-conformance.ts";

it("passes a provider that keeps the whole contract, and every check runs that is not for a denied capability", async () => {
  const { make, options } = referenceFixture((provider) => provider);
  const report = await runConformance(make, options);
  expect(report.checks.filter(({ status }) => status === "failed")).toEqual([]);
  const skipped = report.checks.filter(({ status }) => status !== "passed").map(({ id }) => id);
  expect(skipped).toEqual(["injection-unsupported", "resume-unsupported", "export-unsupported"]);
});
