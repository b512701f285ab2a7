import type { Reporter, TestModule } from "vitest/node";

/** Prints the number of passed, failed and skipped tests, and names those that passed only in their second attempt. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    for (const test of tests) {
      if (test.diagnostic()?.flaky !== true) continue;
      process.stdout.write(`\nflaky: ${test.module.relativeModuleId} > ${test.fullName}\n`);
      for (const { message } of test.result().errors ?? []) process.stdout.write(`  ${message}\n`);
    }
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    // A file that fails to load has no tests, but counts as a failure.
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length;
    process.stdout.write(
      `\n${count("passed")} passed, ${count("failed") + brokenFiles} failed, ${count("skipped")} skipped\n`,
    );
  }
}
