import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempFolder } from "@codexkit/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ECHO_SERVER, launchTiny, tinyAgent } from "../../test/tiny-agent.ts";
import type { AgentEvent } from "../contract/agent-event.ts";
import type { AgentHandle } from "../contract/agent-provider.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import { AcpProvider, type AcpProviderOptions } from "./acp-provider.ts";
import type { AcpCommand } from "./process/start-process.ts";

const cwd = process.cwd();

async function run(provider: AcpProvider, spec: Partial<AgentSpec>): Promise<readonly AgentEvent[]> {
  await using handle = await provider.spawn({ prompt: "say nothing", cwd, ...spec });
  return await Array.fromAsync(handle.events);
}

function textOf(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.kind === "assistant_text" ? event.text : "")).join("");
}

async function working(provider: AcpProvider, prompt = "work"): Promise<AgentHandle> {
  return provider.spawn({ prompt, cwd });
}

async function lastOf(handle: AgentHandle): Promise<AgentEvent | undefined> {
  return (await Array.fromAsync(handle.events)).at(-1);
}

/** A zombie is not alive: its parent has not reaped it yet. */
function isAlive(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", `${pid}`], { encoding: "utf8" });
  return /^[^Z\s]/.test(stdout);
}

/** Most tests share one agent: it serves any number of sessions. */
let shared: AcpProvider;
beforeAll(async () => {
  shared = await launchTiny({ name: "tiny", supportsReasoningEffort: true });
});
afterAll(() => shared.shutdown());

describe("an ACP agent", () => {
  it("reports a tool from start to end", async () => {
    const reported = await run(shared, { prompt: "tool" });
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
    const events = await run(shared, { prompt: "everything" });
    expect(events.flatMap((event) => (event.kind === "system" ? [event.subtype] : []))).toEqual([
      "reasoning",
      "plan_updated",
      "usage_updated",
      "notice",
      "mode_changed",
    ]);
    expect(events.at(-1)).toMatchObject({ message: "Done.", cost: { usd: 0.25 } });
  });

  it("gets a result for a tool that it left open, before the end", async () => {
    const events = await run(shared, { prompt: "leave-open" });
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
    expect((await run(shared, { prompt })).at(-1)).toMatchObject({ success: false, errorSubtype });
  });

  it("receives model, effort, mode, options and meta; missing ones are listed as ignored", async () => {
    const events = await run(shared, {
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
    const events = await run(shared, { prompt: "server ping", mcpStdioServers: ECHO_SERVER });
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "tool_use", toolName: "mcp__tests__echo", toolCategory: "mcp" }),
    );
    expect(textOf(events)).toBe("ping");
  });

  it("can be cancelled while its process keeps serving other sessions", async () => {
    const { pid } = shared;
    const [stopped, works] = await Promise.all([working(shared), working(shared)]);
    await stopped.stop();
    expect(await lastOf(stopped)).toMatchObject({ errorSubtype: "stopped" });
    expect(textOf(await run(shared, { prompt: "say still here" }))).toBe("still here");
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

  it("without session loading does not support resume", async () => {
    await using provider = await launchTiny({ fault: "--plain" });
    expect(provider.capabilities.supportsSessionResume).toBe(false);
    await expect(provider.resume("any", { prompt: "x", cwd })).rejects.toMatchObject({ code: "unsupported" });
  });

  it("is known by its own name, and its process by its PID", async () => {
    const pids: number[] = [];
    expect(shared).toMatchObject({ name: "tiny", capabilities: { humanLabel: "Tiny agent" } });
    await run(shared, { prompt: "say x", onProcessSpawned: (pid) => pids.push(pid) });
    expect(pids).toEqual([shared.pid]);
  });
});

describe("reports of an ACP agent", () => {
  it("include the input of a tool that was announced without it", async () => {
    const events = await run(shared, { prompt: "late-input" });
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
    expect((await run(shared, { prompt: "usage" })).at(-1)).toMatchObject({
      cost: { inputTokens: 120, cachedInputTokens: 20, outputTokens: 30 },
    });
  });

  it("include the cost of a session, without the cost before a resume", async () => {
    await using home = await tempFolder("acp");
    await using provider = await launchTiny({ env: { ACP_TEST_HOME: home.path } });
    const first = await provider.spawn({ prompt: "spend 0.25", cwd });
    expect(await lastOf(first)).toMatchObject({ cost: { usd: 0.25 } });
    const again = await provider.resume(first.sessionId, { prompt: "spend 0.75", cwd });
    expect(await lastOf(again)).toMatchObject({ cost: { usd: 0.5 } });
  });

  it("include a failed turn that ends with end_turn", async () => {
    expect((await run(shared, { prompt: "turn-fails" })).at(-1)).toMatchObject({
      success: false,
      errorSubtype: "execution_failed",
      errors: ["The model is gone."],
    });
  });
});

describe("a message to a running ACP agent", () => {
  it("reaches the running turn, also if it had not started yet", async () => {
    const handle = await working(shared, "listen");
    await handle.inject("the heron");
    const events = await Array.fromAsync(handle.events);
    expect(textOf(events)).toBe("Listening.I received the heron.");
    expect(events).toContainEqual(expect.objectContaining({ subtype: "injected", message: "the heron" }));
    await expect(handle.inject("too late")).rejects.toMatchObject({ code: "session_ended" });
  });

  it("fails if the turn ends without it, or if no turn starts in time", async () => {
    const ends = await working(shared, "say nothing");
    await expect(ends.inject("hello")).rejects.toMatchObject({ code: "session_ended" });
    await using provider = await launchTiny({ limits: { injectMs: 50 } });
    const works = await working(provider);
    await expect(works.inject("hello")).rejects.toMatchObject({ code: "inject_failed" });
  });

  it("fails with the agent's reason if it is refused", async () => {
    await using handle = await working(shared, "listen");
    await expect(handle.inject("nonsense")).rejects.toMatchObject({
      code: "inject_failed",
      message: expect.stringContaining("that is nonsense"),
    });
  });

  it("is not supported by an agent without the extension", async () => {
    await using provider = await launchTiny({ fault: "--plain" });
    expect(provider.capabilities.supportsMessageInjection).toBe(false);
    const handle = await working(provider);
    await expect(handle.inject("hello")).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("a session that an ACP agent does not load", () => {
  const unknown = "0f0e0d0c-0000-4000-8000-000000000000";

  it.each([
    ["uses the error code for it", undefined, /has no session.*Resource not found/],
    ["uses another code, and does not list it", "--lists", /has no session.*no such file/],
    ["uses another code, and mentions the id", "--breaks-on-load", /has no session.*no file for 0f0e0d0c/],
  ])("is not found: the agent %s", async (_, fault, message) => {
    await using home = await tempFolder("acp");
    await using provider = await launchTiny({
      env: { ACP_TEST_HOME: home.path },
      ...(fault === undefined ? {} : { fault }),
    });
    await expect(provider.resume(unknown, { prompt: "x", cwd })).rejects.toMatchObject({
      code: "session_not_found",
      message: expect.stringMatching(message),
    });
  });

  it.each([
    ["had it just before", "--lists", /could not open the session.*no such file/],
    ["does not mention the id", "--breaks-on-load", /could not open the session.*disk is full/],
  ])("exists but can't be opened: the agent %s", async (_, fault, message) => {
    await using home = await tempFolder("acp");
    const env = { ACP_TEST_HOME: home.path };
    await using provider = await launchTiny({ env, fault, limits: { reopenMs: 50 } });
    const { sessionId, events } = await provider.spawn({ prompt: "say x", cwd });
    await Array.fromAsync(events);
    await expect(provider.resume(sessionId, { prompt: "x", cwd })).rejects.toMatchObject({
      code: "spawn_failed",
      message: expect.stringMatching(message),
    });
  });
});

describe("a session that was stopped before its first output", () => {
  it.each([
    ["stores it with its first output", "--stores-late"],
    ["refuses to load an open session", "--one-writer"],
  ])("can be resumed if the agent %s", async (_, fault) => {
    await using home = await tempFolder("acp");
    await using provider = await launchTiny({ env: { ACP_TEST_HOME: home.path }, fault });
    const stopped = await provider.spawn({ prompt: "silent", cwd });
    await stopped.stop();
    const resumed = await provider.resume(stopped.sessionId, { prompt: "say hello", cwd });
    const last = (await Array.fromAsync(resumed.events)).at(-1);
    expect(last).toMatchObject({ kind: "result", success: true, message: "hello" });
  });

  it("is closed once more sessions than the limit are open", async () => {
    await using home = await tempFolder("acp");
    const limits = { unstoredSessions: 1, reopenMs: 1 };
    await using provider = await launchTiny({
      env: { ACP_TEST_HOME: home.path },
      fault: "--stores-late",
      limits,
    });
    const [first, second] = [await silent(provider), await silent(provider)];
    const spec = { prompt: "say hello", cwd };
    await expect(provider.resume(first, spec)).rejects.toMatchObject({ code: "session_not_found" });
    await expect(provider.resume(second, spec)).resolves.toMatchObject({ sessionId: second });
  });

  async function silent(provider: AcpProvider): Promise<string> {
    const handle = await provider.spawn({ prompt: "silent", cwd });
    await handle.stop();
    return handle.sessionId;
  }
});

it("a session that the agent lists but can't load is not reported as unknown", async () => {
  await using home = await tempFolder("acp");
  const env = { ACP_TEST_HOME: home.path };
  await writeFile(join(home.path, "listed"), "say x");
  await using provider = await launchTiny({ env, fault: "--lists" });
  await expect(provider.resume("listed", { prompt: "x", cwd })).rejects.toMatchObject({
    code: "spawn_failed",
  });
});

describe("the login of an ACP agent", () => {
  it("is offered as a list of methods", () => {
    expect(shared.authMethods).toEqual([
      { id: "key", name: "API key", description: "Use a key", type: "agent" },
      { id: "token", name: "Token", type: "env_var", variables: ["TINY_TOKEN"] },
    ]);
  });

  it("is requested by name when a session needs it, and done by launch", async () => {
    await using before = await launchTiny({ fault: "--needs-login" });
    await expect(working(before)).rejects.toMatchObject({
      code: "authentication_failed",
      message: expect.stringMatching(/requires a login.*no key was given.*"key" \(API key\)/),
    });
    await using after = await launchTiny({ fault: "--needs-login", authMethod: "key" });
    expect(textOf(await run(after, { prompt: "say hello" }))).toBe("hello");
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

describe("a permission request of an ACP agent", () => {
  it.each<[string, string, AgentSpec["permissionConfig"], string]>([
    ["is allowed once if nothing denies it", "execute make test", undefined, "yes"],
    ["is denied if it is unsafe", "execute sudo rm -rf /", undefined, "no"],
    ["is denied by a pattern", "execute git push", { disallowPatterns: ["^git push"] }, "no"],
    ["is allowed by a pattern", "execute npm test", { allowPatterns: ["^npm"] }, "yes"],
    ["is denied if only others are allowed", "execute make", { allowPatterns: ["^npm"] }, "no"],
    ["is denied by default", "execute make", { defaultDecision: "deny" }, "no"],
    ["is denied if a person would have to be asked", "execute make", { defaultDecision: "prompt" }, "no"],
    ["may be an edit in the folder", `edit ${cwd}/README.md`, undefined, "yes"],
    ["may not be an edit outside of it", "edit /etc/passwd", undefined, "no"],
    ["may not be an edit of git's own files", `edit ${cwd}/.git/config`, undefined, "no"],
  ])("%s", async (_, question, permissionConfig, answer) => {
    const events = await run(shared, { prompt: `ask ${question}`, permissionConfig });
    expect(textOf(events)).toBe(answer);
    const reported = events.filter(
      (event) =>
        (event.kind === "tool_use" || event.kind === "tool_result") && event.toolName.startsWith("approval:"),
    );
    expect(reported).toMatchObject([
      { toolCategory: "approval" },
      { isError: answer === "no", content: expect.stringMatching(answer === "no" ? /^denied/ : /^allowed/) },
    ]);
    const denials = events.filter((event) => event.kind === "system" && event.subtype === "approval_denied");
    expect(denials).toHaveLength(answer === "no" ? 1 : 0);
  });

  it("is reported as a tool call if it was allowed, and not if it was denied", async () => {
    const calls = async (permissionConfig: AgentSpec["permissionConfig"]): Promise<unknown[]> => {
      const events = await run(shared, { prompt: "ask execute make test", permissionConfig });
      return events.flatMap((event) => ("toolUseId" in event && event.toolUseId === "c" ? [event] : []));
    };
    expect(await calls({ defaultDecision: "allow" })).toMatchObject([
      { kind: "tool_use", toolName: "execute", input: { command: "make test" } },
      { kind: "tool_result", toolName: "execute", content: "done", isError: false },
    ]);
    expect(await calls({ defaultDecision: "deny" })).toEqual([]);
  });

  it("can't be denied if the agent may not ask: the denial is listed as ignored, and refused if it is required", async () => {
    const spec = { prompt: "say x", cwd, permissionConfig: { disallowPatterns: ["^rm"] } };
    await using handle = await shared.spawn(spec);
    expect(handle.ignored).toEqual([
      { field: "permissionConfig", reason: expect.stringContaining("asksPermission") },
    ]);
    const required = { ...spec, required: ["permissionConfig"] } as const;
    await expect(shared.spawn(required)).rejects.toMatchObject({ code: "unsupported" });
    await using strict = await launchTiny({ asksPermission: "always" });
    expect(strict.capabilities.needsPermissionConfig).toBe(true);
    await using honoured = await strict.spawn(required);
    expect(honoured.ignored).toEqual([]);
  });

  it("causes invalid_spec if the patterns are invalid", async () => {
    const spawned = shared.spawn({ prompt: "x", cwd, permissionConfig: { allowPatterns: ["("] } });
    await expect(spawned).rejects.toMatchObject({ code: "invalid_spec" });
  });
});

describe("an ACP agent that misbehaves", () => {
  it.each<[string, AcpCommand & Pick<AcpProviderOptions, "limits">, RegExp]>([
    ["is missing", { command: "codexkit-no-such-agent" }, /ENOENT/],
    ["exits immediately", tinyAgent("--exits"), /exited with code 3.*\n.*no licence/],
    [
      "never answers",
      { ...tinyAgent("--silent"), limits: { initializeMs: 300 } },
      /initialize did not arrive within 300 ms/,
    ],
    ["speaks another version", tinyAgent("--future"), /version 99 of ACP/],
    ["speaks something else", { command: process.execPath, args: ["-e", "console.log('hello')"] }, /exited/],
  ])("is not launched: it %s", async (_, command, message) => {
    await expect(AcpProvider.launch(command)).rejects.toMatchObject({
      code: "provider_unavailable",
      message: expect.stringMatching(message),
    });
  });

  it("crashes during a session: every session ends with its last output, and the next one starts a new process", async () => {
    await using provider = await launchTiny();
    const { pid } = provider;
    const works = await working(provider);
    const crashing = await working(provider, "die");
    const crash = {
      kind: "error",
      code: "app_server_crashed",
      message: expect.stringContaining("out of memory"),
    };
    expect(await lastOf(crashing)).toMatchObject(crash);
    expect(await lastOf(works)).toMatchObject(crash);
    expect(textOf(await run(provider, { prompt: "say hello again" }))).toBe("hello again");
    expect(provider.pid).not.toBe(pid);
  });

  it("prints garbage: its messages are still read", async () => {
    expect(textOf(await run(shared, { prompt: "garbage" }))).toBe("Sorry about that.");
  });

  it("sends unknown updates and requests: it receives an error, and the runner an event", async () => {
    const events = await run(shared, { prompt: "strange" });
    expect(textOf(events)).toBe("No files for me.");
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "system", subtype: "from_the_future", raw: expect.anything() }),
    );
    expect(events).toContainEqual(expect.objectContaining({ subtype: "unhandled_server_request" }));
  });

  it("does not open a session in time: only that session fails", async () => {
    await using provider = await launchTiny({ fault: "--no-sessions", limits: { sessionMs: 50 } });
    await expect(working(provider)).rejects.toMatchObject({ code: "spawn_failed" });
  });

  it("crashes while a session is being opened: the call fails with its last output, and so does the next, on a new process", async () => {
    await using provider = await launchTiny({ fault: "--dies-early" });
    const failure = { code: "spawn_failed", message: expect.stringContaining("no room for a session") };
    await expect(working(provider)).rejects.toMatchObject(failure);
    await expect(working(provider)).rejects.toMatchObject(failure);
  });

  it("crashes with open and opening sessions: no stream is left open", async () => {
    await using provider = await launchTiny();
    const { pid = 0 } = provider;
    const handles = await Promise.all(Array.from({ length: 5 }, () => working(provider)));
    const opening = Array.from({ length: 5 }, () => working(provider));
    process.kill(pid, "SIGKILL");
    const opened = await Promise.allSettled(opening);
    const ends = await Promise.all(
      [...handles, ...opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []))].map(lastOf),
    );
    expect(new Set(ends.map((end) => end?.kind === "error" && end.code))).toEqual(
      new Set(["app_server_crashed"]),
    );
    const refusals = opened.flatMap((one) => (one.status === "rejected" ? [one.reason as unknown] : []));
    expect(refusals).toEqual(refusals.map(() => expect.objectContaining({ code: "spawn_failed" })));
  });

  it("does not start a session if the callback throws", async () => {
    const spawned = shared.spawn({
      prompt: "work",
      cwd,
      onProcessSpawned: () => {
        throw new Error("not now");
      },
    });
    await expect(spawned).rejects.toMatchObject({ code: "spawn_failed", message: "not now" });
  });

  it("can be aborted during the launch", async () => {
    const abort = new AbortController();
    const launching = launchTiny({ fault: "--silent", signal: abort.signal });
    abort.abort();
    await expect(launching).rejects.toMatchObject({ code: "context_cancelled" });
  });

  it("ignores a cancellation: it is ended once it serves no other session", async () => {
    await using provider = await launchTiny({ limits: { cancelMs: 50 } });
    const { pid = 0 } = provider;
    const other = await working(provider);
    const unresponsive = await working(provider, "unresponsive");
    await unresponsive.stop();
    expect(isAlive(pid)).toBe(true);
    await other.stop();
    const unresponsiveAlone = await working(provider, "unresponsive");
    await unresponsiveAlone.stop();
    expect(isAlive(pid)).toBe(false);
    expect(textOf(await run(provider, { prompt: "say hello again" }))).toBe("hello again");
  });

  it("does not exit by itself: it is ended by the shutdown", async () => {
    const processLimits = { exitTimeoutMs: 50, terminateTimeoutMs: 50 };
    const provider = await launchTiny({ fault: "--stubborn", processLimits });
    const { pid = 0 } = provider;
    const works = await working(provider);
    await provider.shutdown();
    expect(await lastOf(works)).toMatchObject({ code: "provider_shutdown" });
    expect(isAlive(pid)).toBe(false);
  });

  it("is orphaned by an owner that was killed: the next launch ends it", async () => {
    const program = fileURLToPath(new URL("../../test/acp-owner.ts", import.meta.url));
    const owner = spawn(process.execPath, ["--conditions=codexkit:source", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(owner.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    owner.kill("SIGKILL");
    await once(owner, "exit");
    expect(isAlive(pid)).toBe(true);
    await using _next = await launchTiny();
    expect(isAlive(pid)).toBe(false);
  });

  it("can be cancelled by its caller while a session is being opened", async () => {
    await using provider = await launchTiny({ fault: "--no-sessions" });
    const abort = new AbortController();
    const spawned = provider.spawn({ prompt: "work", cwd }, { signal: abort.signal });
    abort.abort();
    await expect(spawned).rejects.toMatchObject({ code: "context_cancelled" });
    const waiting = provider.spawn({ prompt: "work", cwd }).catch((error: unknown) => error);
    await provider.shutdown();
    expect(await waiting).toMatchObject({ code: "shut_down" });
  });
});
