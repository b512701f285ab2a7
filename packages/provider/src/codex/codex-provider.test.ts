import { fail, gate, run, say, usage, waitFor } from "@codexkit/scripted-model";
import { fakeAppServerCommand, tempFolder } from "@codexkit/testing";
import { Codex } from "codexkit";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexFixture, ofKind, read, words } from "../../test/codex-fixture.ts";
import { CodexProvider } from "./codex-provider.ts";

describe("creating a Codex provider", () => {
  it.each([
    ["missing", { codexPath: "/nowhere/codex" }],
    ["no codex", { codexPath: process.execPath, wrapperArgs: ["-e", "process.exit(3)"] }],
    ["too old", { minimumVersion: "999.0.0", ...fake() }],
  ])("rejects if Codex is %s", async (_, options) => {
    await expect(CodexProvider.create(options)).rejects.toMatchObject({ code: "provider_unavailable" });
  });

  it("rejects if Codex can't be run", async () => {
    await using folder = await tempFolder("broken");
    const codexPath = join(folder.path, "codex");
    await writeFile(codexPath, "not a program");
    await chmod(codexPath, 0o755);
    await expect(CodexProvider.create({ codexPath })).rejects.toMatchObject({ code: "provider_unavailable" });
  });

  it("is cancelled by its signal", async () => {
    const options = { signal: AbortSignal.abort(), ...fake() };
    await expect(CodexProvider.create(options)).rejects.toMatchObject({ code: "context_cancelled" });
  });
});

function fake(): { codexPath: string; wrapperArgs: string[] } {
  const { command, args } = fakeAppServerCommand();
  return { codexPath: command, wrapperArgs: args };
}

describe("a session", () => {
  it("reports its start, its text and tools, and its end with the cost", async () => {
    await using fixture = await codexFixture([
      [run("echo hello", { callId: "c" }), usage({ input: 100, output: 10, cached: 40 })],
      [say(["Do", "ne"]), usage({ input: 200, output: 20 })],
    ]);
    const transcript = await fixture.run("Say hello");
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

  it("reports why it failed", async () => {
    await using fixture = await codexFixture(() => fail.response("context_length_exceeded"));
    const { end } = await fixture.run("go");
    expect(end).toMatchObject({
      kind: "result",
      success: false,
      errorSubtype: "token_limit",
      reason: "contextWindowExceeded",
    });
  });

  it("is refused without a folder, with an invalid spec, or with a required field that is ignored", async () => {
    await using fixture = await codexFixture([]);
    const { provider, spec } = fixture;
    await expect(provider.spawn(spec("go", { cwd: "/nowhere" }))).rejects.toMatchObject({
      code: "invalid_spec",
    });
    await expect(provider.spawn(spec("", {}))).rejects.toMatchObject({ code: "invalid_spec" });
    const required = spec("go", { subAgentProvider: "claude", required: ["subAgentProvider"] });
    await expect(provider.spawn(required)).rejects.toMatchObject({ code: "unsupported" });
    expect(fixture.model.requests).toHaveLength(0);
    expect(provider.sessions).toBe(0);
  });

  it("lists the ignored fields, and reports the PID of its process", async () => {
    await using fixture = await codexFixture(() => say("ok"));
    const pids: number[] = [];
    const handle = await fixture.provider.spawn(
      fixture.spec("go", { subAgentProvider: "claude", onProcessSpawned: (pid) => pids.push(pid) }),
    );
    const ignored = [{ field: "subAgentProvider", reason: expect.any(String) }];
    expect(handle.ignored).toEqual(ignored);
    expect((await read(handle)).events[0]).toMatchObject({ kind: "init", ignored });
    expect(pids).toEqual([fixture.provider.pid]);
  });

  it("does not start if the callback throws, and releases everything", async () => {
    await using fixture = await codexFixture(() => say("ok"));
    const onProcessSpawned = (): void => {
      throw new Error("not today");
    };
    await expect(fixture.provider.spawn(fixture.spec("go", { onProcessSpawned }))).rejects.toMatchObject({
      code: "spawn_failed",
      message: "not today",
    });
    expect((await fixture.run("go")).end).toMatchObject({ success: true });
    await expect.poll(() => fixture.provider.sessions, { timeout: 10_000 }).toBe(0);
    expect(fixture.model.requests).toHaveLength(1);
  });

  it("is one of many on the same Codex, each with its own text", async () => {
    await using fixture = await codexFixture(({ lastUserText }) => say(`you said ${lastUserText}`));
    const prompts = Array.from({ length: 10 }, (_, index) => `number ${index}`);
    const transcripts = await Promise.all(prompts.map((prompt) => fixture.run(prompt)));
    expect(transcripts.map(words)).toEqual(prompts.map((prompt) => `you said ${prompt}`));
  });
});

describe("injecting", () => {
  it("reaches the model during the turn, and is reported", async () => {
    const [saying, injected] = [gate(), gate()];
    await using fixture = await codexFixture((request) =>
      request.newOutputs.length === 0 && request.lastUserText === "go"
        ? [say(["wait", waitFor(injected)]), waitFor(saying)]
        : say(`I received ${request.lastUserText}`),
    );
    const handle = await fixture.provider.spawn(fixture.spec("go"));
    const nonce = `nonce-${handle.sessionId}`;
    await fixture.model.waitForRequests(1);
    await handle.inject(nonce);
    injected.open();
    saying.open();
    const transcript = await read(handle);
    expect(transcript.end).toMatchObject({ success: true, message: `I received ${nonce}` });
    expect(ofKind(transcript, "system")).toContainEqual(
      expect.objectContaining({ subtype: "injected", message: nonce }),
    );
  });

  it("is refused once the session has ended", async () => {
    await using fixture = await codexFixture(() => say("done"));
    const handle = await fixture.provider.spawn(fixture.spec("go"));
    await read(handle);
    await expect(handle.inject("more")).rejects.toMatchObject({ code: "session_ended" });
  });
});

describe("resuming", () => {
  it("continues the conversation, in this provider and in a concurrent one", async () => {
    await using fixture = await codexFixture(({ input }) =>
      say(`${input.filter((item) => item["role"] === "user").length} messages`),
    );
    const { sessionId, end: first } = await fixture.run("one");
    const handle = await fixture.provider.resume(sessionId, fixture.spec("two"));
    const second = await read(handle);
    // Until Codex has released the session, no other process can resume it.
    await handle.stop();
    await using other = await CodexProvider.create(fixture.options);
    const third = await read(await other.resume(sessionId, fixture.spec("three")));
    expect([second.sessionId, third.sessionId]).toEqual([sessionId, sessionId]);
    const counts = [first, second.end, third.end].map((end) => Number.parseInt(end.message, 10));
    expect(counts).toEqual([counts[0], Number(counts[0]) + 1, Number(counts[0]) + 2]);
  });

  it("uses the settings of the new spec", async () => {
    await using fixture = await codexFixture((request) =>
      request.newOutputs.length === 0
        ? run('echo "<$A$B>"', { callId: "c" })
        : say(request.newOutputs[0]?.text ?? ""),
    );
    const { sessionId, end } = await fixture.run("go", { env: { A: "1" } });
    const resumed = await fixture.provider.resume(sessionId, fixture.spec("go", { env: { B: "2" } }));
    expect([end.message, (await read(resumed)).end.message]).toEqual([
      expect.stringContaining("<1>"),
      expect.stringContaining("<2>"),
    ]);
  });

  it("rejects an unknown session", async () => {
    await using fixture = await codexFixture([]);
    for (const id of ["nonsense", "01a1def3-1278-73b0-bd6f-cda1d133cf49"]) {
      await expect(fixture.provider.resume(id, fixture.spec("go"))).rejects.toMatchObject({
        code: "session_not_found",
      });
    }
    expect(fixture.provider.sessions).toBe(0);
  });

  it("is refused while the session is running, here or in another process", async () => {
    const hold = gate();
    await using fixture = await codexFixture(() => say(["busy", waitFor(hold)]));
    const handle = await fixture.provider.spawn(fixture.spec("go"));
    await using other = await CodexProvider.create(fixture.options);
    for (const provider of [fixture.provider, other]) {
      await expect(provider.resume(handle.sessionId, fixture.spec("more"))).rejects.toMatchObject({
        code: "session_busy",
      });
    }
    hold.open();
    expect((await read(handle)).end).toMatchObject({ success: true });
  });

  it("finds an archived session", async () => {
    await using fixture = await codexFixture(() => say("done"));
    const { sessionId } = await fixture.run("go");
    await using codex = await Codex.launch(fixture.options);
    await codex.request("thread/archive", { threadId: sessionId });
    const { end } = await read(await fixture.provider.resume(sessionId, fixture.spec("again")));
    expect(end).toMatchObject({ success: true });
  });
});
