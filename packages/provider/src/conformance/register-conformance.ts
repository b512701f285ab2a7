import { ALL_CHECKS } from "./all-checks.ts";
import type { ConformanceOptions, ProviderFactory } from "./harness/conformance-options.ts";
import { runCheck } from "./run-check.ts";
import { SuiteContext } from "./harness/suite-context.ts";
import { failure } from "./harness/assertions.ts";

/** The functions of a test runner: `it` and `afterAll` of vitest, `test` and `after` of node:test. */
export interface TestRunner {
  test(name: string, run: (context: { skip(reason?: string): void }) => Promise<void>): unknown;
  after(end: () => Promise<void>): unknown;
}

/**
 * Registers one test per check. Checks that don't apply or can't be verified are skipped, with the reason.
 *
 * @example
 * describe("my provider", () => registerConformance({ test: it, after: afterAll }, makeProvider, { scenarios }));
 */
export function registerConformance(
  runner: TestRunner,
  factory: ProviderFactory,
  options: ConformanceOptions,
): void {
  const suite = new SuiteContext(factory, options);
  for (const check of ALL_CHECKS) {
    runner.test(`${check.tier}: ${check.title}`, async (context) => {
      const { status, reason } = await runCheck(suite, check);
      if (status === "failed") throw failure(reason ?? "it failed");
      if (status !== "passed") context.skip(reason);
    });
  }
  runner.after(() => suite.replaceProvider());
}
