import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Files of few lines that take ten seconds and more. */
const SLOWEST = [
  "test/published/published.test.ts",
  "packages/approvals/src/policy/presets.test.ts",
  "packages/provider/src/conformance/run-conformance.codex.test.ts",
  "packages/exec-server/test/sandbox-conformance.test.ts",
  "packages/provider/src/codex/codex-provider.frozen.test.ts",
  "packages/sdk/test/chaos.test.ts",
  "packages/daemon/test/fleet/fleet-faults.test.ts",
  "packages/daemon/test/fleet/fleet-outages.test.ts",
  "packages/daemon/test/fleet/fleet-crashes.test.ts",
  "packages/daemon/test/fleet/one-node.test.ts",
  "test/examples.test.ts",
  "test/guides.test.ts",
  "test/reference.test.ts",
  "bench/benches/ai-sdk/contender.test.ts",
];

/** In a new clone vitest starts the largest files first. A slow one at the end would run alone, on one core of several. */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of vitest, which returns another array
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean =>
      SLOWEST.some((file) => moduleId.endsWith(file));
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
