import { ALL_CHECKS } from "./all-checks.ts";
import type { ConformanceOptions, ProviderFactory } from "./conformance-options.ts";
import { runCheck } from "./run-check.ts";
import { Stage } from "./stage.ts";
import { failure } from "./within.ts";

/** What the suite needs of a test runner: `it` and `afterAll` of vitest, `test` and `after` of node:test. */
export interface TestRunner {
  test(name: string, run: (context: { skip(reason?: string): void }) => Promise<void>): unknown;
  after(end: () => Promise<void>): unknown;
}

/**
 * Makes a test of every check. What does not apply or can't be verified is skipped, with its reason.
 *
 * @example
 * describe("my provider", () => registerConformance({ test: it, after: afterAll }, makeProvider, { scenarios }));
 */
export function registerConformance(
  runner: TestRunner,
  factory: ProviderFactory,
  options: ConformanceOptions,
): void {
  const stage = new Stage(factory, options);
  for (const check of ALL_CHECKS) {
    runner.test(`${check.tier}: ${check.title}`, async (context) => {
      const { status, reason } = await runCheck(stage, check);
      if (status === "failed") throw failure(reason ?? "it failed");
      if (status !== "passed") context.skip(reason);
    });
  }
  runner.after(() => stage.replaceProvider());
}
