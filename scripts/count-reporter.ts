import type { TestError } from "vitest";
import type { Reporter, TestModule } from "vitest/node";

/** Prints the number of passed, failed and skipped tests, and lists those that passed only on the second attempt. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    for (const test of tests) {
      if (test.diagnostic()?.flaky !== true) continue;
      process.stdout.write(`\nflaky: ${test.module.relativeModuleId} > ${test.fullName}\n`);
      for (const error of test.result().errors ?? []) process.stdout.write(`  ${describeError(error)}\n`);
    }
    const count = (state: string): number => tests.filter((test) => test.result().state === state).length;
    // A file that fails to load has no tests, but counts as a failure.
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length;
    process.stdout.write(
      `\n${count("passed")} passed, ${count("failed") + brokenFiles} failed, ${count("skipped")} skipped\n`,
    );
  }
}

function describeError({ message, cause }: TestError): string {
  return cause === undefined ? message : `${message}\n  Caused by: ${describeError(cause)}`;
}
