import { describe, expect, it } from "vitest";
import { type Fault, rawProvider } from "../../test/raw-provider.ts";
import type { AgentHandle, AgentProvider } from "../contract/agent-provider.ts";
import { StubProvider } from "../stub/stub-provider.ts";
import { StubSessions } from "../stub/stub-sessions.ts";
import type { ConformanceOptions } from "./conformance-options.ts";
import type { ConformanceReport } from "./conformance-report.ts";
import { formatReport } from "./format-report.ts";
import { runConformance } from "./run-conformance.ts";

const cwd = process.cwd();
const spec = (prompt: string): { prompt: string; cwd: string } => ({ prompt, cwd });

const RAW: ConformanceOptions = {
  scenarios: {
    says: (words) => spec(`say ${words}`),
    works: () => spec("work"),
    usesTool: () => spec("tool"),
    echoes: () => spec("echo"),
    remembers: { told: (words) => spec(`remember ${words}`), asked: () => spec("recall") },
  },
  samples: { model: "any", providerConfig: {} },
  limits: { deadlineMs: 5, slowReaderMs: 1 },
};

/** Waits of a provider that never answers. */
const SHORT = { spawnMs: 20, sessionMs: 20, stopMs: 20, callMs: 20, shutdownMs: 20, events: 50 };

function failures({ checks }: ConformanceReport): Record<string, string | undefined> {
  return Object.fromEntries(
    checks.filter(({ status }) => status === "failed").map(({ id, reason }) => [id, reason]),
  );
}

describe("the suite", () => {
  it("passes a sound provider that is written from nothing", async () => {
    const report = await runConformance(() => rawProvider(), RAW);
    expect(failures(report)).toEqual({});
    expect(report.tiers.map(({ status }) => status)).toEqual(["earned", "earned", "earned", "earned"]);
  });

  it.each<[Fault, Record<string, RegExp>]>([
    ["second-init", { "init-first": /one "init", and there are 2/ }],
    ["event-after-end", { "nothing-after-terminal": /after "result" came assistant_text/ }],
    ["double-terminal", { "one-terminal": /there are 2: init, assistant_text, result, result/ }],
    ["no-terminal", { "one-terminal": /there are 0: init, assistant_text$/ }],
    ["leaks-between-handles", { "handles-stay-apart": /belongs to another/ }],
    ["takes-bad-specs", { "bad-spec-refused": /should be refused with "invalid_spec", and was taken/ }],
    ["survives-shutdown", { "refuses-after-shutdown": /"shut_down", and was taken/ }],
    ["unpaired-tool", { "tools-paired": /no tool_result came for t/ }],
    ["negative-usage", { "usage-sane": /outputTokens/ }],
    ["not-json", { "json-round-trip": /"result" is not the same after JSON/ }],
    ["many-readers", { "one-reader": /"events_taken", and was taken/ }],
    ["stop-throws", { "stop-ends-stream": /does not stop/ }],
    ["invents-sessions", { "resume-unknown": /"session_not_found", and was taken/ }],
    ["forgets", { "resume-remembers": /should say "nonce-/, "resume-elsewhere": /should say/ }],
    ["claims-injection-only", { "injection-is-heard": /It can't/ }],
    [
      "ignores-silently",
      { "field-model": /should|It is required/, "field-effort": /is denied, but effort is/ },
    ],
    ["unproven-agents", { "agents-are-shown": /claimed and not proven: there is no scenario `startsAgent`/ }],
  ])("fails a provider for its fault: %s", async (fault, expected) => {
    const report = await runConformance(() => rawProvider(fault), RAW);
    expect(report.conforms).toBe(false);
    for (const [id, reason] of Object.entries(expected)) expect(failures(report)[id]).toMatch(reason);
  });

  it.each<[Fault, Record<string, RegExp>]>([
    ["no-init", { "init-first": /first event should be "init", and is "assistant_text"/ }],
    ["hangs", { "one-terminal": /the event after "init" took longer than 20 ms/ }],
    ["spawn-hangs", { "init-first": /spawn\(\) took longer than 20 ms/ }],
    ["stop-hangs", { "stop-ends-stream": /stop\(\) took longer than 20 ms/ }],
    ["endless-stream", { "one-terminal": /gave more than 50 events/ }],
    ["deaf-injection", { "injection-is-heard": /the event after "init" took longer/ }],
    ["ignores-signal", { "abort-cancels": /took longer/, "aborted-before-spawn": /and was taken/ }],
    ["reader-cannot-leave", { "reader-leaves": /should be refused with "session_ended" or "unsupported"/ }],
  ])("fails a provider that does not answer, by the name of the wait: %s", async (fault, expected) => {
    const limits = { ...RAW.limits, ...SHORT };
    const report = await runConformance(() => rawProvider(fault), { ...RAW, limits });
    for (const [id, reason] of Object.entries(expected)) expect(failures(report)[id]).toMatch(reason);
  });

  it("stops what comes when nobody waits for it any more", async () => {
    const late = Promise.withResolvers<void>();
    const stopped: string[] = [];
    const makeLate = (): AgentProvider => {
      const provider = rawProvider();
      const spawn = async (...args: Parameters<AgentProvider["spawn"]>): Promise<AgentHandle> => {
        const handle = await provider.spawn(...args);
        await late.promise;
        const stop = async (): Promise<void> => void stopped.push(handle.sessionId);
        return { ...handle, stop };
      };
      return { ...provider, spawn };
    };
    const limits = { ...RAW.limits, ...SHORT, spawnMs: 1 };
    const report = await runConformance(makeLate, { ...RAW, limits });
    expect(failures(report)["init-first"]).toMatch(/spawn\(\) took longer/);
    late.resolve();
    await expect.poll(() => stopped.length).toBeGreaterThan(10);
  });

  it("finds one fault to be one fault", async () => {
    const only = async (fault: Fault): Promise<string[]> =>
      Object.keys(failures(await runConformance(() => rawProvider(fault), RAW)));
    expect(await only("leaks-between-handles")).toEqual(["handles-stay-apart"]);
    expect(await only("negative-usage")).toEqual(["usage-sane"]);
    expect(await only("unpaired-tool")).toEqual(["tools-paired"]);
    expect(await only("many-readers")).toEqual(["one-reader"]);
    expect(await only("claims-injection-only")).toEqual(["injection-is-heard", "injection-after-end"]);
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

  it("does not let a tier be earned by what did not run", async () => {
    const report = await runConformance(() => new StubProvider({ without: ["injection", "resume"] }), stub);
    expect(report).toMatchObject({ conforms: true, provider: "stub" });
    const [events, injection, resume, receipt] = report.tiers;
    expect([events?.status, receipt?.status]).toEqual(["earned", "earned"]);
    expect(injection).toEqual({
      tier: "injection",
      status: "not_earned",
      reason: "injection-is-heard did not run: supportsMessageInjection is false",
    });
    expect(resume).toMatchObject({ status: "not_earned" });
  });

  it("fails a claim that nothing proves", async () => {
    const report = await runConformance(() => new StubProvider(), stub);
    expect(failures(report)).toMatchObject({
      "injection-is-heard": expect.stringContaining("there is no scenario `echoes`"),
      "resume-remembers": expect.stringContaining("there is no scenario `remembers`"),
    });
  });

  it("lists what was not verified and why, for people and as JSON", async () => {
    const sessions = new StubSessions();
    const report = await runConformance(() => new StubProvider({ sessions, without: ["injection"] }), stub);
    expect(report.notVerified).toContainEqual({
      what: "answers each tool_use with one tool_result, in that order",
      reason: "there is no scenario `usesTool`",
    });
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
    const text = formatReport(report);
    expect(text).toContain("stub: does not conform");
    expect(text).toContain("✗ resume-remembers: goes on with a session");
    expect(text).toContain("– injection-is-heard");
    expect(text).toMatch(/not verified\n(.*\n)*.*the inside of its agent/);
  });

  it("says so when no provider could be made, without trying for each check", async () => {
    let tries = 0;
    const report = await runConformance(() => {
      tries += 1;
      throw new Error("no agent here");
    }, stub);
    expect(tries).toBe(1);
    expect(report).toMatchObject({ conforms: false, provider: "(none could be made)" });
    expect(report.checks.every(({ reason }) => reason?.includes("no agent here"))).toBe(true);
  });

  it("comes check by check to whoever listens", async () => {
    const heard: string[] = [];
    const report = await runConformance(() => new StubProvider(), {
      ...stub,
      onCheck: ({ id }) => heard.push(id),
    });
    expect(heard).toEqual(report.checks.map(({ id }) => id));
    expect(new Set(heard).size).toBe(heard.length);
  });

  it("does not claim anything about what an abort left out", async () => {
    const abort = AbortSignal.abort();
    const report = await runConformance(() => new StubProvider(), { ...stub, signal: abort });
    expect(report.tiers.every(({ status }) => status === "not_earned")).toBe(true);
    expect(new Set(report.checks.map(({ status }) => status))).toEqual(new Set(["not_verified"]));
  });
});
