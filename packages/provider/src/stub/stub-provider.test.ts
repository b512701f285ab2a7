import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../contract/agent-event.ts";
import type { AgentHandle } from "../contract/agent-provider.ts";
import { ManualClock } from "./stub-clock.ts";
import { StubProvider, type StubProviderOptions } from "./stub-provider.ts";
import { StubSessions } from "./stub-sessions.ts";
import { STUB_BEHAVIOURS, type StubSettings } from "./stub-settings.ts";

const SPEC = { prompt: "Fix the build", cwd: "/srv/app" };

async function play(settings: StubProviderOptions, spec: object = {}): Promise<readonly AgentEvent[]> {
  await using provider = new StubProvider(settings);
  const handle = await provider.spawn({ ...SPEC, ...spec });
  return await Array.fromAsync(handle.events);
}

function textOf(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.kind === "assistant_text" ? event.text : "")).join("");
}

async function firstEvent(handle: AgentHandle): Promise<AsyncIterator<AgentEvent>> {
  const reader = handle.events[Symbol.asyncIterator]();
  await reader.next();
  return reader;
}

describe("a stub that is configured to", () => {
  it("succeed opens a pull request and reports its URL", async () => {
    const pullRequest = "https://example.com/mine/pull/7";
    const events = await play({ behaviour: "succeed-with-pr", pullRequest });
    expect(events.at(-1)).toMatchObject({
      kind: "result",
      success: true,
      message: expect.stringContaining(pullRequest),
      cost: { turns: 2, usd: 0.02 },
    });
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "tool_result", content: pullRequest, isError: false }),
    );
    expect(textOf(events)).toContain("My task: Fix the build");
  });

  it("fail on its clone reports the failed tool and fails", async () => {
    const events = await play({ behaviour: "fail-on-clone" });
    expect(events).toContainEqual(expect.objectContaining({ kind: "tool_result", isError: true }));
    expect(events.at(-1)).toMatchObject({
      success: false,
      errorSubtype: "execution_failed",
      reason: "clone_failed",
    });
  });

  it("fail silently claims success without text or tools", async () => {
    const events = await play({ behaviour: "silent-fail" });
    expect(events.map(({ kind }) => kind)).toEqual(["init", "usage", "result"]);
    expect(events.at(-1)).toMatchObject({ success: true, message: "" });
  });

  it("hang does so until its deadline", async () => {
    const clock = new ManualClock();
    await using provider = new StubProvider({ behaviour: "hang-then-timeout", clock });
    const handle = await provider.spawn({ ...SPEC, timeoutMs: 3_600_000 });
    const events = Array.fromAsync(handle.events);
    await clock.advance(3_599_999);
    await handle.inject("still there?");
    await clock.advance(1);
    expect((await events).at(-1)).toMatchObject({ success: false, errorSubtype: "deadline_exceeded" });
  });

  it("run a slow tool reports progress as time passes", async () => {
    const clock = new ManualClock();
    await using provider = new StubProvider({ behaviour: "slow-tool", toolSeconds: 600, clock });
    const handle = await provider.spawn(SPEC);
    const events = Array.fromAsync(handle.events);
    await clock.advance(600_000);
    const progress = (await events).filter((event) => event.kind === "tool_progress");
    expect(progress.at(-1)).toMatchObject({ elapsedSeconds: 600 });
    expect((await events).at(-1)).toMatchObject({ success: true, message: "It took 600 seconds." });
  });

  it("overrun its cost does so, unless the model calls are limited", async () => {
    const free = await play({ behaviour: "cost-overrun", modelCalls: 1_000 });
    expect(free.at(-1)).toMatchObject({ success: true, cost: { usd: 1_000, turns: 1_000 } });
    const held = await play({ behaviour: "cost-overrun" }, { maxTurns: 3 });
    expect(held.at(-1)).toMatchObject({
      success: false,
      errorSubtype: "max_turns",
      cost: { usd: 3, turns: 3 },
    });
  });

  it("fail in mid-stream leaves a tool open and ends with an error", async () => {
    const events = await play({ behaviour: "mid-stream-error" });
    expect(events.slice(-2)).toMatchObject([
      { kind: "tool_use" },
      { kind: "error", code: "provider_failed" },
    ]);
  });

  it("wait for injections repeats each one, including one that arrived early", async () => {
    await using provider = new StubProvider({ behaviour: "inject-test", injections: 2 });
    const handle = await provider.spawn(SPEC);
    await handle.inject("the first");
    const events = Array.fromAsync(handle.events);
    await handle.inject("the second");
    expect(textOf(await events)).toMatch(/the first.*the second$/);
    await expect(handle.inject("too late")).rejects.toMatchObject({ code: "session_ended" });
  });
});

describe("a stub", () => {
  it.each(STUB_BEHAVIOURS)("is deterministic: %s", async (behaviour) => {
    const settings: StubSettings = { behaviour, toolSeconds: 2 };
    const once = async (): Promise<readonly AgentEvent[]> => {
      const clock = new ManualClock();
      await using provider = new StubProvider({ ...settings, clock });
      const handle = await provider.spawn({ ...SPEC, timeoutMs: 10_000 });
      const events = Array.fromAsync(handle.events);
      await clock.advance(10_000);
      return await events;
    };
    expect(await once()).toEqual(await once());
  });

  it("can be overridden by a spec, which is validated", async () => {
    const events = await play(
      { behaviour: "fail-on-clone" },
      { providerConfig: { behaviour: "silent-fail" } },
    );
    expect(events.at(-1)).toMatchObject({ success: true });
    const wrong = play({}, { providerConfig: { behaviour: "dance" } });
    await expect(wrong).rejects.toMatchObject({ code: "invalid_spec" });
  });

  it("ends with the first of stop, signal, shutdown and a reader that stops", async () => {
    const provider = new StubProvider({ behaviour: "hang-then-timeout" });
    const abort = new AbortController();
    const [stopped, cancelled, shutDown, left] = await Promise.all([
      provider.spawn(SPEC),
      provider.spawn(SPEC, { signal: abort.signal }),
      provider.spawn(SPEC),
      provider.spawn(SPEC),
    ]);
    await stopped.stop();
    abort.abort();
    const reader = await firstEvent(left);
    await reader.return?.();
    await expect(left.inject("hello?")).rejects.toMatchObject({ code: "session_ended" });
    await provider.shutdown();
    const last = async (handle: AgentHandle): Promise<AgentEvent | undefined> =>
      (await Array.fromAsync(handle.events)).at(-1);
    expect(await last(stopped)).toMatchObject({ kind: "result", errorSubtype: "stopped" });
    expect(await last(cancelled)).toMatchObject({ kind: "error", code: "context_cancelled" });
    expect(await last(shutDown)).toMatchObject({ kind: "error", code: "provider_shutdown" });
    await expect(provider.spawn(SPEC)).rejects.toMatchObject({ code: "shut_down" });
  });

  it("resumes its sessions, and those of stubs that share them, once they have ended", async () => {
    const sessions = new StubSessions();
    const first = new StubProvider({ sessions });
    await using second = new StubProvider({ sessions });
    const handle = await first.spawn({ ...SPEC, prompt: "Remember the heron" });
    await expect(second.resume(handle.sessionId, SPEC)).rejects.toMatchObject({ code: "session_busy" });
    await first.shutdown();
    const resumed = await second.resume(handle.sessionId, SPEC);
    expect(textOf(await Array.fromAsync(resumed.events))).toContain("I was asked: Remember the heron.");
    await expect(second.resume("stub-99", SPEC)).rejects.toMatchObject({ code: "session_not_found" });
  });

  it("ends the running tool when it is stopped", async () => {
    await using provider = new StubProvider({ behaviour: "slow-tool", clock: new ManualClock() });
    const handle = await provider.spawn(SPEC);
    const reader = handle.events[Symbol.asyncIterator]();
    for (let next = await reader.next(); next.value?.kind !== "tool_use"; next = await reader.next());
    await handle.stop();
    expect((await reader.next()).value).toMatchObject({
      kind: "tool_result",
      toolUseId: "slow",
      isError: true,
    });
    expect((await reader.next()).value).toMatchObject({ errorSubtype: "stopped" });
  });

  it("enforces budgets of tokens and money, and moves its sessions to another stub", async () => {
    const costly = { behaviour: "cost-overrun" } as const;
    expect((await play(costly, { maxTokens: 2_500 })).at(-1)).toMatchObject({
      errorSubtype: "budget_exceeded",
      cost: { turns: 3 },
    });
    expect((await play(costly, { maxCostUsd: 2 })).at(-1)).toMatchObject({
      errorSubtype: "budget_exceeded",
      cost: { usd: 3 },
    });
    await using here = new StubProvider();
    await using there = new StubProvider();
    const handle = await here.spawn({ ...SPEC, prompt: "Remember the heron" });
    await handle.stop();
    await there.spawn(SPEC);
    const id = await there.import(await here.export(handle.sessionId)).catch((error: unknown) => error);
    expect(id).toMatchObject({ code: "session_busy" });
    await using other = new StubProvider();
    await other.import(await here.export(handle.sessionId));
    const resumed = await other.resume(handle.sessionId, SPEC);
    expect(textOf(await Array.fromAsync(resumed.events))).toContain("Remember the heron");
    expect((await other.spawn(SPEC)).sessionId).not.toBe(handle.sessionId);
  });

  it("rejects the features that it was created without", async () => {
    await using provider = new StubProvider({ without: ["injection", "resume"] });
    await using handle = await provider.spawn({ ...SPEC, providerConfig: { behaviour: "inject-test" } });
    await expect(handle.inject("a word")).rejects.toMatchObject({ code: "unsupported" });
    await expect(provider.resume("stub-1", SPEC)).rejects.toMatchObject({ code: "unsupported" });
  });

  it("lists ignored fields, and refuses them if they are required", async () => {
    await using provider = new StubProvider();
    const handle = await provider.spawn({ ...SPEC, model: "any", maxTurns: 9 });
    expect(handle.ignored.map(({ field }) => field)).toEqual(["cwd", "model"]);
    const refused = provider.spawn({ ...SPEC, model: "any", required: ["model"] });
    await expect(refused).rejects.toMatchObject({ code: "unsupported" });
  });
});
