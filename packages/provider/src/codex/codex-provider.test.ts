import { fail, gate, run, say, usage, waitFor } from "@codexkit/scripted-model";
import { type FakeAction, fakeAppServerCommand, type FakeBehaviour, tempFolder } from "@codexkit/testing";
import { Codex } from "codexkit";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexStage, ofKind, read, words } from "../../test/codex-stage.ts";
import type { AgentEvent } from "../contract/agent-event.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import { CodexProvider } from "./codex-provider.ts";

describe("making a Codex provider", () => {
  it.each([
    ["missing", { codexPath: "/nowhere/codex" }],
    ["no codex", { codexPath: process.execPath, wrapperArgs: ["-e", "process.exit(3)"] }],
    ["too old", { minimumVersion: "999.0.0", ...fake() }],
  ])("fails at once when codex is %s", async (_, options) => {
    await expect(CodexProvider.create(options)).rejects.toMatchObject({ code: "provider_unavailable" });
  });

  it("fails at once when codex can't be run", async () => {
    await using folder = await tempFolder("broken");
    const codexPath = join(folder.path, "codex");
    await writeFile(codexPath, "not a program");
    await chmod(codexPath, 0o755);
    await expect(CodexProvider.create({ codexPath })).rejects.toMatchObject({ code: "provider_unavailable" });
  });

  it("is given up when its signal fires", async () => {
    const options = { signal: AbortSignal.abort(), ...fake() };
    await expect(CodexProvider.create(options)).rejects.toMatchObject({ code: "context_cancelled" });
  });
});

function fake(): { codexPath: string; wrapperArgs: string[] } {
  const { command, args } = fakeAppServerCommand();
  return { codexPath: command, wrapperArgs: args };
}

describe("a session", () => {
  it("tells its beginning, its words and tools, and its end with what it used", async () => {
    await using stage = await codexStage([
      [run("echo hello", { callId: "c" }), usage({ input: 100, output: 10, cached: 40 })],
      [say(["Do", "ne"]), usage({ input: 200, output: 20 })],
    ]);
    const transcript = await stage.run("Say hello");
    const [init] = transcript.events;
    expect(init).toMatchObject({ kind: "init", sessionId: transcript.sessionId, ignored: [] });
    expect(ofKind(transcript, "tool_use")).toMatchObject([
      { toolName: "shell", toolUseId: "c", toolCategory: "command", raw: { type: "item.started" } },
      { toolName: "approval:command", toolCategory: "approval" },
    ]);
    expect(ofKind(transcript, "tool_result")).toMatchObject([
      { toolName: "approval:command", isError: false },
      { toolUseId: "c", content: "hello\n", isError: false },
    ]);
    expect(words(transcript)).toBe("Done");
    expect(transcript.end).toMatchObject({
      kind: "result",
      success: true,
      message: "Done",
      errors: [],
      cost: { inputTokens: 300, outputTokens: 30, cachedInputTokens: 40, turns: 2 },
    });
    // Codex does not know what its tokens cost.
    expect(transcript.end).not.toHaveProperty("cost.usd");
  });

  it("says why it failed", async () => {
    await using stage = await codexStage(() => fail.response("context_length_exceeded"));
    const { end } = await stage.run("go");
    expect(end).toMatchObject({
      kind: "result",
      success: false,
      errorSubtype: "token_limit",
      reason: "contextWindowExceeded",
    });
  });

  it("is refused where it can't be: no folder, a wrong spec, a field that is required and ignored", async () => {
    await using stage = await codexStage([]);
    const { provider, spec } = stage;
    await expect(provider.spawn(spec("go", { cwd: "/nowhere" }))).rejects.toMatchObject({
      code: "invalid_spec",
    });
    await expect(provider.spawn(spec("", {}))).rejects.toMatchObject({ code: "invalid_spec" });
    const required = spec("go", { subAgentProvider: "claude", required: ["subAgentProvider"] });
    await expect(provider.spawn(required)).rejects.toMatchObject({ code: "unsupported" });
    expect(stage.model.requests).toHaveLength(0);
    expect(provider.sessions).toBe(0);
  });

  it("gives a receipt for what it ignores, and the id of the process that serves it", async () => {
    await using stage = await codexStage(() => say("ok"));
    const pids: number[] = [];
    const handle = await stage.provider.spawn(
      stage.spec("go", { subAgentProvider: "claude", onProcessSpawned: (pid) => pids.push(pid) }),
    );
    const ignored = [{ field: "subAgentProvider", reason: expect.any(String) }];
    expect(handle.ignored).toEqual(ignored);
    expect((await read(handle)).events[0]).toMatchObject({ kind: "init", ignored });
    expect(pids).toEqual([stage.provider.pid]);
  });

  it("does not begin when the callback throws, and leaves nothing behind", async () => {
    await using stage = await codexStage(() => say("ok"));
    const onProcessSpawned = (): void => {
      throw new Error("not today");
    };
    await expect(stage.provider.spawn(stage.spec("go", { onProcessSpawned }))).rejects.toMatchObject({
      code: "spawn_failed",
      message: "not today",
    });
    expect((await stage.run("go")).end).toMatchObject({ success: true });
    await expect.poll(() => stage.provider.sessions).toBe(0);
    expect(stage.model.requests).toHaveLength(1);
  });

  it("is one of many on the same codex, each with its own words", async () => {
    await using stage = await codexStage(({ lastUserText }) => say(`you said ${lastUserText}`));
    const prompts = Array.from({ length: 10 }, (_, index) => `number ${index}`);
    const transcripts = await Promise.all(prompts.map((prompt) => stage.run(prompt)));
    expect(transcripts.map(words)).toEqual(prompts.map((prompt) => `you said ${prompt}`));
  });
});

describe("injecting", () => {
  it("reaches the model in the middle of the turn, and is told", async () => {
    const [saying, injected] = [gate(), gate()];
    await using stage = await codexStage((request) =>
      request.newOutputs.length === 0 && request.lastUserText === "go"
        ? [say(["wait", waitFor(injected)]), waitFor(saying)]
        : say(`I was told ${request.lastUserText}`),
    );
    const handle = await stage.provider.spawn(stage.spec("go"));
    const nonce = `nonce-${handle.sessionId}`;
    await stage.model.waitForRequests(1);
    await handle.inject(nonce);
    injected.open();
    saying.open();
    const transcript = await read(handle);
    expect(transcript.end).toMatchObject({ success: true, message: `I was told ${nonce}` });
    expect(ofKind(transcript, "system")).toContainEqual(
      expect.objectContaining({ subtype: "injected", message: nonce }),
    );
  });

  it("is refused once the session has ended", async () => {
    await using stage = await codexStage(() => say("done"));
    const handle = await stage.provider.spawn(stage.spec("go"));
    await read(handle);
    await expect(handle.inject("more")).rejects.toMatchObject({ code: "session_ended" });
  });
});

describe("resuming", () => {
  it("goes on with what was said, here and from another provider while this one lives", async () => {
    await using stage = await codexStage(({ input }) =>
      say(`${input.filter((item) => item["role"] === "user").length} messages`),
    );
    const { sessionId, end: first } = await stage.run("one");
    const second = await read(await stage.provider.resume(sessionId, stage.spec("two")));
    await using other = await CodexProvider.create(stage.options);
    const third = await read(await other.resume(sessionId, stage.spec("three")));
    expect([second.sessionId, third.sessionId]).toEqual([sessionId, sessionId]);
    const counts = [first, second.end, third.end].map((end) => Number.parseInt(end.message, 10));
    expect(counts).toEqual([counts[0], Number(counts[0]) + 1, Number(counts[0]) + 2]);
  });

  it("takes the settings of the new spec", async () => {
    await using stage = await codexStage((request) =>
      request.newOutputs.length === 0
        ? run('echo "<$A$B>"', { callId: "c" })
        : say(request.newOutputs[0]?.text ?? ""),
    );
    const { sessionId, end } = await stage.run("go", { env: { A: "1" } });
    const resumed = await stage.provider.resume(sessionId, stage.spec("go", { env: { B: "2" } }));
    expect([end.message, (await read(resumed)).end.message]).toEqual([
      expect.stringContaining("<1>"),
      expect.stringContaining("<2>"),
    ]);
  });

  it("does not find what is not there", async () => {
    await using stage = await codexStage([]);
    for (const id of ["nonsense", "01a1def3-1278-73b0-bd6f-cda1d133cf49"]) {
      await expect(stage.provider.resume(id, stage.spec("go"))).rejects.toMatchObject({
        code: "session_not_found",
      });
    }
    expect(stage.provider.sessions).toBe(0);
  });

  it("is refused while the session works, here or elsewhere", async () => {
    const hold = gate();
    await using stage = await codexStage(() => say(["busy", waitFor(hold)]));
    const handle = await stage.provider.spawn(stage.spec("go"));
    await using other = await CodexProvider.create(stage.options);
    for (const provider of [stage.provider, other]) {
      await expect(provider.resume(handle.sessionId, stage.spec("more"))).rejects.toMatchObject({
        code: "session_busy",
      });
    }
    hold.open();
    expect((await read(handle)).end).toMatchObject({ success: true });
  });

  it("finds a session that is in the archive", async () => {
    await using stage = await codexStage(() => say("done"));
    const { sessionId } = await stage.run("go");
    await using codex = await Codex.launch(stage.options);
    await codex.request("thread/archive", { threadId: sessionId });
    const { end } = await read(await stage.provider.resume(sessionId, stage.spec("again")));
    expect(end).toMatchObject({ success: true });
  });
});

describe("the end of a session", () => {
  it("comes by stop, with what was said and used until then", async () => {
    await using stage = await codexStage(() => say(["Half a", waitFor(gate())]));
    const handle = await stage.provider.spawn(stage.spec("go"));
    const events: AgentEvent[] = [];
    for await (const event of handle.events) {
      events.push(event);
      if (event.kind === "assistant_text") void handle.stop();
    }
    expect(events.at(-1)).toMatchObject({ kind: "result", success: false, errorSubtype: "stopped" });
    await handle.stop();
    expect(stage.provider.sessions).toBe(0);
    expect(await stage.model.requests[0]?.ended).toBe("abandoned");
  });

  it("comes by the signal, before there is a handle and after", async () => {
    await using stage = await codexStage(() => say(["Half a", waitFor(gate())]));
    const aborted = stage.provider.spawn(stage.spec("go"), { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "context_cancelled" });
    const early = new AbortController();
    const cut = stage.provider.spawn(stage.spec("go"), { signal: early.signal });
    early.abort();
    await expect(cut).rejects.toMatchObject({ code: "context_cancelled" });
    const controller = new AbortController();
    const handle = await stage.provider.spawn(stage.spec("go"), { signal: controller.signal });
    await stage.model.waitForRequests(1);
    controller.abort();
    expect((await read(handle)).end).toMatchObject({ kind: "error", code: "context_cancelled" });
    await expect.poll(() => stage.provider.sessions).toBe(0);
  });

  it("comes when the reader leaves, and Codex stops", async () => {
    await using stage = await codexStage(() => say(["Half a", waitFor(gate())]));
    const handle = await stage.provider.spawn(stage.spec("go"));
    for await (const event of handle.events) if (event.kind === "assistant_text") break;
    expect(await stage.model.requests[0]?.ended).toBe("abandoned");
    await handle.stop();
    expect(stage.provider.sessions).toBe(0);
  });

  it("comes by timeoutMs", async () => {
    await using stage = await codexStage(() => say(["Half a", waitFor(gate())]));
    const { end } = await stage.run("go", { timeoutMs: 500 });
    expect(end).toMatchObject({ kind: "result", success: false, errorSubtype: "deadline_exceeded" });
  });

  it("comes by maxTurns when the model wants one more call, and not before", async () => {
    await using stage = await codexStage(({ outputs }) =>
      outputs.length < 2 ? run("true", { callId: `c${outputs.length}` }) : say("done"),
    );
    expect((await stage.run("go", { maxTurns: 3 })).end).toMatchObject({ success: true, cost: { turns: 3 } });
    const stopped = await stage.run("go", { maxTurns: 2 });
    expect(stopped.end).toMatchObject({ success: false, errorSubtype: "max_turns", cost: { turns: 2 } });
    expect(ofKind(stopped, "assistant_text")).toEqual([]);
  });

  it("comes by a crash for every session; the provider goes on and the sessions resume", async () => {
    const hold = gate();
    await using stage = await codexStage(({ lastUserText }) =>
      lastUserText === "hang" ? say(["Half a", waitFor(hold)]) : say("back"),
    );
    const handles = await Promise.all([1, 2, 3].map(() => stage.provider.spawn(stage.spec("hang"))));
    await stage.model.waitForRequests(3);
    const reading = handles.map(read);
    process.kill(stage.provider.pid ?? 0, "SIGKILL");
    for (const { end } of await Promise.all(reading)) {
      expect(end).toMatchObject({ kind: "error", code: "app_server_crashed" });
    }
    const resumed = await stage.provider.resume(handles[0]?.sessionId ?? "", stage.spec("back"));
    expect((await read(resumed)).end).toMatchObject({ success: true, message: "back" });
    expect((await stage.run("new")).end).toMatchObject({ success: true });
  });

  it("comes by the provider's shutdown, after which nothing starts and codex is gone", async () => {
    await using stage = await codexStage(() => say(["Half a", waitFor(gate())]));
    const handle = await stage.provider.spawn(stage.spec("go"));
    const { pid } = stage.provider;
    const [{ end }] = await Promise.all([read(handle), stage.provider.shutdown(), stage.provider.shutdown()]);
    expect(end).toMatchObject({ kind: "error", code: "provider_shutdown" });
    await expect(stage.provider.spawn(stage.spec("go"))).rejects.toMatchObject({ code: "shut_down" });
    await expect(stage.provider.resume(handle.sessionId, stage.spec("go"))).rejects.toMatchObject({
      code: "shut_down",
    });
    await handle.stop();
    expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH");
  });

  it("comes also from a codex that does not stop when it is told to", async () => {
    await using stage = await fakeStage({ "turn/start": [reply], "turn/interrupt": [{ do: "nothing" }] });
    const handle = await stage.provider.spawn(stage.spec);
    const waiting = new AbortController();
    const stopping = handle.stop({ signal: waiting.signal });
    waiting.abort();
    await expect(stopping).rejects.toMatchObject({ code: "context_cancelled" });
    expect((await read(handle)).end).toMatchObject({ errorSubtype: "stopped" });
  });

  it("is not mistaken for that of an earlier turn, nor hastened by what nobody can answer", async () => {
    const ask = {
      do: "request",
      id: "q",
      method: "item/riddle/ask",
      params: { threadId: "thread-1" },
    } as const;
    await using stage = await fakeStage({
      "turn/start": [
        completed("an earlier one"),
        reply,
        notify("turn/started", { threadId: "thread-1", turn }),
        ask,
      ],
      "turn/steer": [{ do: "reply", result: {} }, completed(turn.id)],
    });
    const handle = await stage.provider.spawn(stage.spec);
    const events: AgentEvent[] = [];
    for await (const event of handle.events) {
      events.push(event);
      if (event.kind === "system" && event.subtype === "unhandled_server_request")
        await handle.inject("go on");
    }
    expect(events.at(-1)).toMatchObject({ success: true, raw: { turnId: turn.id } });
  });
});

const turn = {
  id: "turn-1",
  items: [],
  itemsView: "notLoaded",
  status: "inProgress",
  error: null,
  durationMs: 1,
};
const reply = { do: "reply", result: { turn } } as const;

function notify(method: string, params: object): FakeAction {
  return { do: "notify", method, params };
}

function completed(turnId: string): FakeAction {
  return notify("turn/completed", {
    threadId: "thread-1",
    turn: { ...turn, id: turnId, status: "completed" },
  });
}

/** A provider on a codex that does as it is told, for what the real one can't be made to do. */
async function fakeStage(
  on: NonNullable<FakeBehaviour["on"]>,
): Promise<{ provider: CodexProvider; spec: AgentSpec } & AsyncDisposable> {
  await using made = new AsyncDisposableStack();
  const folder = made.use(await tempFolder("fake"));
  const initialize: FakeAction = {
    do: "reply",
    result: { userAgent: "fake/0.166.0", codexHome: folder.path },
  };
  const { command, args } = fakeAppServerCommand({ on: { initialize: [initialize], ...on } });
  const options = { codexPath: command, wrapperArgs: args, interruptTimeoutMs: 50 };
  const provider = made.use(await CodexProvider.create(options));
  const owner = made.move();
  const spec = { prompt: "go", cwd: folder.path };
  return { provider, spec, [Symbol.asyncDispose]: () => owner.disposeAsync() };
}

describe("what a session leaves behind", () => {
  it("is nothing: MCP servers, background commands and agents end with it", async () => {
    await using stage = await codexStage(({ newOutputs }) =>
      newOutputs.length === 0
        ? run("echo $$; exec sleep 600", { callId: "c", yieldMs: 250 })
        : say(newOutputs[0]?.text ?? ""),
    );
    const handle = await stage.provider.spawn(stage.spec("go"));
    const { end } = await read(handle);
    const pid = Number(/^(\d+)$/m.exec(end.message)?.[1]);
    expect(pid).toBeGreaterThan(1);
    await handle.stop();
    await expect.poll(() => isAlive(pid)).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
