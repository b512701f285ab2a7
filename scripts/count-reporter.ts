import type { Reporter, TestModule } from "vitest/node";

/** Prints the number of passed, failed and skipped tests. */
export default class CountReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const states = modules.flatMap((module) =>
      [...module.children.allTests()].map((test) => test.result().state),
    );
    const count = (state: string): number => states.filter((each) => each === state).length;
    // A file that fails to load has no tests, but counts as a failure.
    const brokenFiles = modules.filter((module) => module.errors().length > 0).length;
    process.stdout.write(
      `\n${count("passed")} passed, ${count("failed") + brokenFiles} failed, ${count("skipped")} skipped\n`,
    );
  }
}
