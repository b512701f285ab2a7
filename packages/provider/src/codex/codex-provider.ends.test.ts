// Tests every way in which a session ends, and what remains of it.
import { gate, run, say, waitFor } from "@codexkit/scripted-model";
import { type FakeAction, fakeAppServerCommand, type FakeBehaviour, tempFolder } from "@codexkit/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codexFixture, read } from "../../test/codex-fixture.ts";
import type { AgentEvent } from "../contract/agent-event.ts";
import type { AgentSpec } from "../contract/agent-spec.ts";
import { CodexProvider } from "./codex-provider.ts";

describe("the end of a session", () => {
  it("follows stop, which resolves once Codex has released the session", async () => {
    await using fixture = await codexFixture(() => say(["Half a", waitFor(gate())]));
    const handle = await fixture.provider.spawn(fixture.spec("go"));
    const events: AgentEvent[] = [];
    for await (const event of handle.events) {
      events.push(event);
      if (event.kind === "assistant_text") void handle.stop();
    }
    expect(events.at(-1)).toMatchObject({ kind: "result", success: false, errorSubtype: "stopped" });
    await handle.stop();
    expect(fixture.provider.sessions).toBe(0);
    expect(await fixture.model.requests[0]?.ended).toBe("abandoned");
  });

  it("follows the signal, before there is a handle and afterwards", async () => {
    await using fixture = await codexFixture(() => say(["Half a", waitFor(gate())]));
    const aborted = fixture.provider.spawn(fixture.spec("go"), { signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "context_cancelled" });
    const early = new AbortController();
    const cut = fixture.provider.spawn(fixture.spec("go"), { signal: early.signal });
    early.abort();
    await expect(cut).rejects.toMatchObject({ code: "context_cancelled" });
    const controller = new AbortController();
    const handle = await fixture.provider.spawn(fixture.spec("go"), { signal: controller.signal });
    await fixture.model.waitForRequests(1);
    controller.abort();
    expect((await read(handle)).end).toMatchObject({ kind: "error", code: "context_cancelled" });
    await expect.poll(() => fixture.provider.sessions, { timeout: 10_000 }).toBe(0);
  });

  it("follows when the reader stops, and Codex stops too", async () => {
    await using fixture = await codexFixture(() => say(["Half a", waitFor(gate())]));
    const handle = await fixture.provider.spawn(fixture.spec("go"));
    for await (const event of handle.events) if (event.kind === "assistant_text") break;
    expect(await fixture.model.requests[0]?.ended).toBe("abandoned");
    await handle.stop();
    expect(fixture.provider.sessions).toBe(0);
  });

  it("follows timeoutMs", async () => {
    await using fixture = await codexFixture(() => say(["Half a", waitFor(gate())]));
    const { end } = await fixture.run("go", { timeoutMs: 500 });
    expect(end).toMatchObject({ kind: "result", success: false, errorSubtype: "deadline_exceeded" });
  });

  it("follows maxTurns when the model needs one more call, and not before", async () => {
    await using fixture = await codexFixture(({ outputs }) =>
      outputs.length < 2 ? run("true", { callId: `c${outputs.length}` }) : say("done"),
    );
    expect((await fixture.run("go", { maxTurns: 3 })).end).toMatchObject({
      success: true,
      cost: { turns: 3 },
    });
    const before = fixture.model.requests.length;
    const stopped = await fixture.run("go", { maxTurns: 2 });
    expect(stopped.end).toMatchObject({ success: false, errorSubtype: "max_turns", cost: { turns: 2 } });
    expect(fixture.model.requests.length - before).toBe(2);
  });

  it("follows a crash for every session; the provider keeps working and the sessions can be resumed", async () => {
    const hold = gate();
    await using fixture = await codexFixture(({ lastUserText }) =>
      lastUserText === "hang" ? say(["Half a", waitFor(hold)]) : say("back"),
    );
    const handles = await Promise.all([1, 2, 3].map(() => fixture.provider.spawn(fixture.spec("hang"))));
    await fixture.model.waitForRequests(3);
    const reading = handles.map(read);
    process.kill(fixture.provider.pid ?? 0, "SIGKILL");
    for (const { end } of await Promise.all(reading)) {
      expect(end).toMatchObject({ kind: "error", code: "app_server_crashed" });
    }
    const resumed = await fixture.provider.resume(handles[0]?.sessionId ?? "", fixture.spec("back"));
    expect((await read(resumed)).end).toMatchObject({ success: true, message: "back" });
    expect((await fixture.run("new")).end).toMatchObject({ success: true });
  });

  it("follows the provider's shutdown, after which nothing starts and Codex has ended", async () => {
    await using fixture = await codexFixture(() => say(["Half a", waitFor(gate())]));
    const handle = await fixture.provider.spawn(fixture.spec("go"));
    const { pid } = fixture.provider;
    const [{ end }] = await Promise.all([
      read(handle),
      fixture.provider.shutdown(),
      fixture.provider.shutdown(),
    ]);
    expect(end).toMatchObject({ kind: "error", code: "provider_shutdown" });
    await expect(fixture.provider.spawn(fixture.spec("go"))).rejects.toMatchObject({ code: "shut_down" });
    await expect(fixture.provider.resume(handle.sessionId, fixture.spec("go"))).rejects.toMatchObject({
      code: "shut_down",
    });
    await handle.stop();
    expect(() => process.kill(pid ?? 0, 0)).toThrow("ESRCH");
  });

  it("follows even if Codex does not react to the interrupt", async () => {
    await using fixture = await fakeStage({ "turn/start": [reply], "turn/interrupt": [{ do: "nothing" }] });
    const handle = await fixture.provider.spawn(fixture.spec);
    const waiting = new AbortController();
    const stopping = handle.stop({ signal: waiting.signal });
    waiting.abort();
    await expect(stopping).rejects.toMatchObject({ code: "context_cancelled" });
    expect((await read(handle)).end).toMatchObject({ errorSubtype: "stopped" });
  });

  it("is not that of an earlier turn, and not caused by an unhandled request", async () => {
    const ask = {
      do: "request",
      id: "q",
      method: "item/riddle/ask",
      params: { threadId: "thread-1" },
    } as const;
    await using fixture = await fakeStage({
      "turn/start": [
        completed("an earlier one"),
        reply,
        notify("turn/started", { threadId: "thread-1", turn }),
        ask,
      ],
      "turn/steer": [{ do: "reply", result: {} }, completed(turn.id)],
    });
    const handle = await fixture.provider.spawn(fixture.spec);
    const events: AgentEvent[] = [];
    for await (const event of handle.events) {
      events.push(event);
      if (event.kind === "system" && event.subtype === "unhandled_server_request")
        await handle.inject("continue");
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

/** A provider on a fake Codex, for behaviour that can't be provoked in the real one. */
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

describe("the resources of a session", () => {
  it("end with it: MCP servers, background commands and subagents", async () => {
    await using fixture = await codexFixture(({ newOutputs }) =>
      newOutputs.length === 0
        ? run("echo $$ > pid; exec sleep 600", { callId: "c", yieldMs: 250 })
        : say("done"),
    );
    const handle = await fixture.provider.spawn(fixture.spec("go"));
    await read(handle);
    // Codex may have continued before the command had started.
    const readPid = async () => Number(await readFile(join(fixture.workspace, "pid"), "utf8").catch(() => 0));
    await expect.poll(readPid).toBeGreaterThan(1);
    const pid = await readPid();
    await handle.stop();
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
