import { describe, expect, it } from "vitest";
import { expectEveryTier } from "../../test/expect-every-tier.ts";
import { StubProvider } from "../stub/stub-provider.ts";
import { StubSessions } from "../stub/stub-sessions.ts";
import type { StubBehaviour } from "../stub/stub-settings.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import type { ConformanceOptions } from "./harness/conformance-options.ts";
import { registerConformance, type TestRunner } from "./register-conformance.ts";
import { runConformance } from "./run-conformance.ts";

const spec = (prompt: string, behaviour?: StubBehaviour): AgentSpec => ({
  prompt,
  cwd: process.cwd(),
  providerConfig: { ...(behaviour && { behaviour }) },
});

const options: ConformanceOptions = {
  scenarios: {
    says: spec,
    works: () => spec("Work", "hang-then-timeout"),
    usesTool: () => spec("Open a pull request"),
    callsModelTwice: () => spec("Spend", "cost-overrun"),
    echoes: () => spec("Listen", "inject-test"),
    remembers: { store: spec, recall: () => spec("What did I say?") },
    otherMachine: () => new StubProvider(),
    leaks: () => [],
  },
  samples: { model: "any" },
  limits: { deadlineMs: 5, slowReaderMs: 1, idleMs: 5 },
};

type Test = Parameters<TestRunner["test"]>[1];

/** A test runner that records the tests registered with it. */
function recordingRunner(): TestRunner & { readonly tests: Map<string, Test>; end: () => Promise<void> } {
  const tests = new Map<string, Test>();
  const runner = {
    tests,
    end: () => Promise.resolve(),
    test: (name: string, run: Test) => tests.set(name, run),
    after: (end: () => Promise<void>) => (runner.end = end),
  };
  return runner;
}

describe("the stub", () => {
  it("earns every tier", async () => {
    const sessions = new StubSessions();
    const report = await runConformance(() => new StubProvider({ sessions }), options);
    expectEveryTier(report);
  });

  it("passes each check in a test runner, which skips checks that do not apply", async () => {
    const runner = recordingRunner();
    const made: StubProvider[] = [];
    registerConformance(
      runner,
      () => {
        const provider = new StubProvider({ sessions, without: ["injection"] });
        made.push(provider);
        return provider;
      },
      options,
    );
    const sessions = new StubSessions();
    const skipped: string[] = [];
    for (const run of runner.tests.values()) await run({ skip: (reason = "") => skipped.push(reason) });
    await runner.end();
    expect(skipped).toContain("supportsMessageInjection is false");
    for (const provider of made)
      await expect(provider.spawn(spec("Again"))).rejects.toMatchObject({ code: "shut_down" });
  });

  it("fails in a test runner with the reason", async () => {
    const runner = recordingRunner();
    const scenarios = { says: spec, works: () => spec("Work", "hang-then-timeout") };
    registerConformance(runner, () => new StubProvider(), { ...options, scenarios });
    const [, test] = [...runner.tests].find(([name]) => name.startsWith("injection: delivers")) ?? [];
    await expect(test?.({ skip: () => {} })).rejects.toThrow("there is no scenario `echoes`");
    await runner.end();
  });
});
