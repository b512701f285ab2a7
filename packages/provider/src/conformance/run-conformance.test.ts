import { describe, expect, it } from "vitest";
import {
  handles,
  HANGS,
  type Mutation,
  ofKind,
  override,
  overrideHandle,
} from "../../test/mutants/mutate.ts";
import { referenceFixture } from "../../test/reference-fixture.ts";
import { ReferenceProvider } from "../../test/reference-provider.ts";
import type { AgentHandle, AgentProvider } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import { StubProvider } from "../stub/stub-provider.ts";
import { StubSessions } from "../stub/stub-sessions.ts";
import type { ConformanceOptions } from "./harness/conformance-options.ts";
import type { ConformanceReport } from "./harness/conformance-report.ts";
import { formatReport } from "./format-report.ts";
import { runConformance } from "./run-conformance.ts";

const cwd = process.cwd();
const spec = (prompt: string): { prompt: string; cwd: string } => ({ prompt, cwd });

function failures({ checks }: ConformanceReport): Record<string, string | undefined> {
  return Object.fromEntries(
    checks.filter(({ status }) => status === "failed").map(({ id, reason }) => [id, reason]),
  );
}

describe("the suite", () => {
  it.each<[string, Mutation, readonly string[]]>([
    [
      "negative usage",
      ofKind("result", (result) => [{ ...result, cost: { ...result.cost, cachedInputTokens: -1 } }]),
      ["usage-sane", "usage-grows"],
    ],
    [
      "an unknown kind of tool",
      ofKind("tool_use", (use) => [{ ...use, toolCategory: "magic" }]),
      ["server-is-used", "events-well-formed"],
    ],
    [
      "concurrent reads",
      handles((handle) => {
        const reader = handle.events[Symbol.asyncIterator]();
        return overrideHandle(handle, { events: { [Symbol.asyncIterator]: () => reader } });
      }, "resume"),
      ["one-reader-resumed"],
    ],
  ])("reports one fault as one failed check: %s", async (_, mutate, expected) => {
    const { make, options } = referenceFixture(mutate);
    expect(Object.keys(failures(await runConformance(make, options)))).toEqual(expected);
  });

  it("completes with a provider that never answers", async () => {
    const { options } = referenceFixture((provider) => provider);
    const never = (): Promise<never> => new Promise(() => {});
    const silent = (): AgentProvider =>
      Object.assign(new ReferenceProvider(), {
        spawn: never,
        resume: never,
        export: never,
        import: never,
        shutdown: never,
      });
    const limits = { ...options.limits, ...HANGS, spawnMs: 2, callMs: 2, shutdownMs: 2 };
    const report = await runConformance(silent, { ...options, limits });
    expect(report.conforms).toBe(false);
    expect(failures(report)["init-first"]).toMatch(/spawn\(\) took longer than 2 ms/);
    const passed = report.checks.filter(({ status }) => status === "passed").map(({ id }) => id);
    expect(passed).toEqual(["has-name", "capabilities-complete", "errors-well-formed"]);
  });

  it("fails a check that exceeds its limit by name, after it has ended the processes of the agent", async () => {
    const { make, options } = referenceFixture((provider) => provider);
    const ended: string[] = [];
    const works = (): AgentSpec => ({ prompt: "work", cwd });
    const report = await runConformance(make, {
      ...options,
      // An agent that sends nothing. Only the limit of the whole check is short.
      scenarios: { ...options.scenarios, says: works },
      only: ["reports-text", "stop-ends-stream"],
      limits: { ...options.limits, checkMs: 20 },
      onCheckTimeout: (id) => void ended.push(id),
    });
    expect(failures(report)).toEqual({ "reports-text": "the check took longer than 20 ms" });
    expect(report.checks.find(({ id }) => id === "stop-ends-stream")?.status).toBe("passed");
    expect(ended).toEqual(["reports-text"]);
  });

  it("stops sessions that open after their check has ended", async () => {
    const late = Promise.withResolvers<void>();
    const stopped: string[] = [];
    const { options } = referenceFixture((provider) => provider);
    const makeLate = (): AgentProvider => {
      const provider = new ReferenceProvider();
      const spawn = async (...args: Parameters<AgentProvider["spawn"]>): Promise<AgentHandle> => {
        const handle = await provider.spawn(...args);
        await late.promise;
        const stop = async (): Promise<void> => void stopped.push(handle.sessionId);
        return overrideHandle(handle, { stop });
      };
      return override(provider, { spawn });
    };
    const limits = { ...options.limits, ...HANGS, spawnMs: 1, callMs: 1 };
    const report = await runConformance(makeLate, { ...options, limits });
    expect(failures(report)["reports-text"]).toMatch(/spawn\(\) took longer/);
    late.resolve();
    await expect.poll(() => stopped.length).toBeGreaterThan(10);
  });

  it("restores the listeners for unhandled errors", async () => {
    const before = process.listeners("unhandledRejection");
    const { make, options } = referenceFixture((provider) => provider);
    await runConformance(make, { ...options, only: ["reports-text"] });
    expect(process.listeners("unhandledRejection")).toEqual(before);
  });

  it("reports checks that were not selected as not verified", async () => {
    const { make, options } = referenceFixture((provider) => provider);
    const report = await runConformance(make, { ...options, only: ["reports-text"] });
    const ran = report.checks.filter(({ status }) => status === "passed").map(({ id }) => id);
    expect(ran).toEqual(["reports-text"]);
    expect(report.tiers.every(({ status }) => status === "not_earned")).toBe(true);
  });
});

describe("the report", () => {
  const stub: ConformanceOptions = {
    scenarios: {
      says: spec,
      works: () => ({ ...spec("Work"), providerConfig: { behaviour: "hang-then-timeout" } }),
    },
    limits: { deadlineMs: 5, slowReaderMs: 1 },
  };

  it("does not let checks that did not run earn a tier", async () => {
    const report = await runConformance(
      () => new StubProvider({ without: ["injection", "resume", "export"] }),
      stub,
    );
    expect(report).toMatchObject({ conforms: true, provider: "stub" });
    const [events, injection, resume, receipt] = report.tiers;
    expect([events?.status, receipt?.status]).toEqual(["earned", "earned"]);
    expect(injection).toEqual({
      tier: "injection",
      status: "not_earned",
      reason: "injection-reaches-agent did not run: supportsMessageInjection is false",
    });
    expect(resume).toMatchObject({ status: "not_earned" });
  });

  it("fails a capability without a scenario", async () => {
    const report = await runConformance(() => new StubProvider(), stub);
    expect(failures(report)).toMatchObject({
      "injection-reaches-agent": expect.stringContaining("there is no scenario `echoes`"),
      "resume-remembers": expect.stringContaining("there is no scenario `remembers`"),
    });
  });

  it("lists what was not verified and why, as text and as JSON", async () => {
    const sessions = new StubSessions();
    const report = await runConformance(() => new StubProvider({ sessions, without: ["injection"] }), stub);
    expect(report.notVerified).toContainEqual({
      what: "follows each tool_use with exactly one tool_result",
      reason: "there is no scenario `usesTool`",
    });
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    const text = formatReport(report);
    expect(text).toContain("stub: does not conform");
    expect(text).toContain("✗ resume-remembers: continues a session");
    expect(text).toContain("– injection-reaches-agent");
    expect(text).toMatch(/not verified\n(.*\n)*.*the internals of the agent/);
  });

  it("states that no provider could be created, after a single attempt", async () => {
    let tries = 0;
    const report = await runConformance(() => {
      tries += 1;
      throw new Error("no agent here");
    }, stub);
    expect(tries).toBe(1);
    expect(report).toMatchObject({ conforms: false, provider: "(could not be created)" });
    expect(report.checks.every(({ reason }) => reason?.includes("no agent here"))).toBe(true);
  });

  it("is delivered check by check", async () => {
    const reported: string[] = [];
    const report = await runConformance(() => new StubProvider(), {
      ...stub,
      onCheck: ({ id }) => reported.push(id),
    });
    expect(reported).toEqual(report.checks.map(({ id }) => id));
    expect(new Set(reported).size).toBe(reported.length);
  });

  it("makes no claim about checks that an abort skipped", async () => {
    const abort = AbortSignal.abort();
    const report = await runConformance(() => new StubProvider(), { ...stub, signal: abort });
    expect(report.tiers.every(({ status }) => status === "not_earned")).toBe(true);
    expect(new Set(report.checks.map(({ status }) => status))).toEqual(new Set(["not_verified"]));
  });
});
