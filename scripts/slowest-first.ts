import { BaseSequencer, type TestSpecification } from "vitest/node";

/** Short files that take ten seconds or more. */
const SLOWEST = [
  "packages/daemon/test/fleet/fleet-faults.test.ts",
  "packages/console/test/killed-daemon.test.ts",
  "packages/daemon/test/fleet/one-node.test.ts",
  "packages/approvals/src/policy/presets.test.ts",
  "packages/daemon/test/fleet/fleet-outages.test.ts",
  "test/published/published.test.ts",
  "packages/console/test/states.test.ts",
  "packages/provider/src/conformance/run-conformance.codex.test.ts",
  "test/examples.test.ts",
  "test/guides.test.ts",
  "packages/daemon/test/fleet/fleet-crashes.test.ts",
  "bench/benches/ai-sdk/contender.test.ts",
  "packages/daemon/test/large-history.test.ts",
  "packages/daemon/src/sessions/parked-requests.test.ts",
  "packages/exec-server/test/sandbox-conformance.test.ts",
  "test/reference.test.ts",
  "packages/daemon/src/fleet/lease-machine.model.test.ts",
  "packages/relay/test/pairings.test.ts",
  "packages/provider/src/codex/codex-provider.frozen.test.ts",
  "packages/sdk/test/chaos.test.ts",
  "packages/provider/src/conformance/run-conformance.acp.test.ts",
];

/**
 * Starts slow files first. In a new clone vitest orders files by size, so a short slow file would run last, alone on one core.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of vitest, which returns another array
    const sorted = await super.sort(files);
    const isSlow = ({ moduleId }: TestSpecification): boolean =>
      SLOWEST.some((file) => moduleId.endsWith(file));
    return [...sorted.filter(isSlow), ...sorted.filter((file) => !isSlow(file))];
  }
}
