import { tempFolder } from "@codexkit/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { lastEventOf, runSession, startSession, textOf } from "../../test/acp-session.ts";
import { ECHO_SERVER, launchTiny } from "../../test/tiny-agent.ts";
import type { AcpProvider } from "./acp-provider.ts";

const cwd = process.cwd();

/** Most tests share one agent: it serves any number of sessions. */
let shared: AcpProvider;
beforeAll(async () => {
  shared = await launchTiny({ name: "tiny", supportsReasoningEffort: true });
});
afterAll(() => shared.shutdown());

describe("an ACP agent", () => {
  it("reports a tool from start to end", async () => {
    const reported = await runSession(shared, { prompt: "tool" });
    const progress = reported.filter((event) => event.kind === "tool_progress");
    expect(progress.map(({ output }) => output).join("")).toBe("a\nb\n");
    const events = reported.filter(({ kind }) => kind !== "tool_progress" && kind !== "assistant_text");
    expect(events).toMatchObject([
      { kind: "init" },
      { kind: "tool_use", toolUseId: "t", toolCategory: "command", input: { command: "ls" } },
      { kind: "tool_result", toolUseId: "t", content: "a\nb\n", isError: false },
      { kind: "result", success: true, message: "Two files." },
    ]);
  });

  it("reports thoughts, plans, notices, modes and costs", async () => {
    const events = await runSession(shared, { prompt: "everything" });
    expect(events.flatMap((event) => (event.kind === "system" ? [event.subtype] : []))).toEqual([
      "reasoning",
      "plan_updated",
      "usage_updated",
      "notice",
      "mode_changed",
    ]);
    expect(events.at(-1)).toMatchObject({ message: "Done.", cost: { usd: 0.25 } });
  });

  it("gets a tool_result, before the result, for a tool that it left open", async () => {
    const events = await runSession(shared, { prompt: "leave-open" });
    expect(events.slice(-2)).toMatchObject([
      { kind: "tool_result", toolUseId: "o", isError: true },
      { success: true },
    ]);
  });

  it.each([
    ["refuse", "refused"],
    ["tokens", "token_limit"],
    ["turns", "max_turns"],
    ["fail badly", "execution_failed"],
  ])("reports its own reason for an end: %s", async (prompt, errorSubtype) => {
    expect((await runSession(shared, { prompt })).at(-1)).toMatchObject({ success: false, errorSubtype });
  });

  it("receives model, effort, mode, options and meta; missing ones are listed as ignored", async () => {
    const events = await runSession(shared, {
      prompt: "settings",
      model: "LARGE",
      effort: "high",
      providerConfig: { mode: "plan", options: { fast: true }, meta: { team: "red" } },
    });
    expect(JSON.parse(textOf(events))).toEqual({
      team: "red",
      mode: "plan",
      llm: "large",
      thinking: "high",
      fast: true,
    });
    const handle = await shared.spawn({ prompt: "say x", cwd, model: "huge", effort: "xhigh" });
    expect(handle.ignored).toEqual([
      { field: "model", reason: expect.stringContaining("small, large") },
      { field: "effort", reason: expect.stringContaining("low, high") },
    ]);
    const required = shared.spawn({ prompt: "say x", cwd, model: "huge", required: ["model"] });
    await expect(required).rejects.toMatchObject({ code: "unsupported" });
  });

  it("uses the tools of the MCP servers in the spec", async () => {
    const events = await runSession(shared, { prompt: "server ping", mcpStdioServers: ECHO_SERVER });
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "tool_use", toolName: "mcp__tests__echo", toolCategory: "mcp" }),
    );
    expect(textOf(events)).toBe("ping");
  });

  it("can be cancelled while its process keeps serving other sessions", async () => {
    const { pid } = shared;
    const [stopped, works] = await Promise.all([startSession(shared), startSession(shared)]);
    await stopped.stop();
    expect(await lastEventOf(stopped)).toMatchObject({ errorSubtype: "stopped" });
    expect(textOf(await runSession(shared, { prompt: "say still here" }))).toBe("still here");
    expect(shared.pid).toBe(pid);
    await works.stop();
  });

  it.each([
    ["when it is resumed", undefined],
    ["which it sends after it was resumed", "--late-replay"],
    ["when it was busy with its session at first", "--busy-at-first"],
  ])("does not repeat the history %s", async (_, fault) => {
    await using home = await tempFolder("acp");
    const env = { ACP_TEST_HOME: home.path };
    await using provider = await launchTiny({ env, ...(fault !== undefined && { fault }) });
    const first = await provider.spawn({ prompt: "remember the heron", cwd });
    await Array.fromAsync(first.events);
    const again = await provider.resume(first.sessionId, { prompt: "recall", cwd });
    expect(textOf(await Array.fromAsync(again.events))).toBe("remember the heron\nrecall\n");
  });

  it("does not support resume without session loading", async () => {
    await using provider = await launchTiny({ fault: "--plain" });
    expect(provider.capabilities.supportsSessionResume).toBe(false);
    await expect(provider.resume("any", { prompt: "x", cwd })).rejects.toMatchObject({ code: "unsupported" });
  });

  it("reports its name and the PID of its process", async () => {
    const pids: number[] = [];
    expect(shared).toMatchObject({ name: "tiny", capabilities: { humanLabel: "Tiny agent" } });
    await runSession(shared, { prompt: "say x", onProcessSpawned: (pid) => pids.push(pid) });
    expect(pids).toEqual([shared.pid]);
  });
});

describe("reports of an ACP agent", () => {
  it("include the input of a tool that was announced without it", async () => {
    const events = await runSession(shared, { prompt: "late-input" });
    expect(events.filter((event) => "toolUseId" in event)).toMatchObject([
      { kind: "tool_use", toolName: "execute", input: { command: "date" } },
      { kind: "tool_result", toolName: "execute", content: "today" },
    ]);
  });

  it("include a tool that stays pending, after a timeout", async () => {
    await using provider = await launchTiny({ limits: { pendingToolMs: 10 } });
    await using handle = await provider.spawn({ prompt: "pending", cwd });
    for await (const event of handle.events) if (event.kind === "tool_use") break;
  });

  it("include the usage of the prompt, with cached tokens as part of the input", async () => {
    expect((await runSession(shared, { prompt: "usage" })).at(-1)).toMatchObject({
      cost: { inputTokens: 120, cachedInputTokens: 20, outputTokens: 30 },
    });
  });

  it("include the cost of a session, without the cost before a resume", async () => {
    await using home = await tempFolder("acp");
    await using provider = await launchTiny({ env: { ACP_TEST_HOME: home.path } });
    const first = await provider.spawn({ prompt: "spend 0.25", cwd });
    expect(await lastEventOf(first)).toMatchObject({ cost: { usd: 0.25 } });
    const again = await provider.resume(first.sessionId, { prompt: "spend 0.75", cwd });
    expect(await lastEventOf(again)).toMatchObject({ cost: { usd: 0.5 } });
  });

  it("include a failed turn that ends with end_turn", async () => {
    expect((await runSession(shared, { prompt: "turn-fails" })).at(-1)).toMatchObject({
      success: false,
      errorSubtype: "execution_failed",
      errors: ["The model is gone."],
    });
  });
});

describe("a message to a running ACP agent", () => {
  it("reaches the turn, even if it has not started yet", async () => {
    const handle = await startSession(shared, "listen");
    await handle.inject("the heron");
    const events = await Array.fromAsync(handle.events);
    expect(textOf(events)).toBe("Listening.I received the heron.");
    expect(events).toContainEqual(expect.objectContaining({ subtype: "injected", message: "the heron" }));
    await expect(handle.inject("too late")).rejects.toMatchObject({ code: "session_ended" });
  });

  it("fails if the turn ends without it, or if no turn starts in time", async () => {
    const ends = await startSession(shared, "say nothing");
    await expect(ends.inject("hello")).rejects.toMatchObject({ code: "session_ended" });
    await using provider = await launchTiny({ limits: { injectMs: 50 } });
    const works = await startSession(provider);
    await expect(works.inject("hello")).rejects.toMatchObject({ code: "inject_failed" });
  });

  it("fails with the agent's reason if it is refused", async () => {
    await using handle = await startSession(shared, "listen");
    await expect(handle.inject("nonsense")).rejects.toMatchObject({
      code: "inject_failed",
      message: expect.stringContaining("that is nonsense"),
    });
  });

  it("is not supported by an agent without the extension", async () => {
    await using provider = await launchTiny({ fault: "--plain" });
    expect(provider.capabilities.supportsMessageInjection).toBe(false);
    const handle = await startSession(provider);
    await expect(handle.inject("hello")).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("the login of an ACP agent", () => {
  it("is offered as a list of methods", () => {
    expect(shared.authMethods).toEqual([
      { id: "key", name: "API key", description: "Use a key", type: "agent" },
      { id: "token", name: "Token", type: "env_var", variables: ["TINY_TOKEN"] },
    ]);
  });

  it("is performed by launch; without one, spawn fails and lists the methods", async () => {
    await using before = await launchTiny({ fault: "--needs-login" });
    await expect(startSession(before)).rejects.toMatchObject({
      code: "authentication_failed",
      message: expect.stringMatching(/requires a login.*no key was given.*"key" \(API key\)/),
    });
    await using after = await launchTiny({ fault: "--needs-login", authMethod: "key" });
    expect(textOf(await runSession(after, { prompt: "say hello" }))).toBe("hello");
  });

  it.each([
    ["carrier-pigeon", "provider_unavailable", /has no auth method "carrier-pigeon": it offers key, token/],
    ["token", "authentication_failed", /TINY_TOKEN is not set/],
  ])("that fails is reported by launch: %s", async (authMethod, code, message) => {
    await expect(launchTiny({ authMethod })).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
  });
});
