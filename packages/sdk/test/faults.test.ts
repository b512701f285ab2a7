// Faults that can't be provoked in the real codex, with a fake one.
import {
  type FakeAction,
  type FakeBehaviour,
  fakeAppServerCommand,
  FakeTurn,
  notify,
} from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { Codex } from "../src/codex.ts";
import type { CodexOptions } from "../src/codex-options.ts";
import type { CodexEvent } from "../src/events/event.ts";

const turn = new FakeTurn();
const { threadId, turnId, reply, started, completed } = turn;

async function launch(behaviour: FakeBehaviour, options: CodexOptions = {}): Promise<Codex> {
  const { command, args } = fakeAppServerCommand(behaviour);
  return Codex.launch({ codexPath: command, wrapperArgs: args, ...options });
}

function onTurnStart(...actions: FakeAction[]): FakeBehaviour {
  return { on: { "turn/start": actions } };
}

function types(events: readonly CodexEvent[]): CodexEvent["type"][] {
  return events.map(({ type }) => type);
}

describe("a turn", () => {
  it("is complete even if its events and its end precede the response that names it", async () => {
    await using codex = await launch(onTurnStart(started, ...turn.message("m", "early"), completed, reply));
    const thread = await codex.startThread();
    const run = thread.run("go");
    expect(types(await Array.fromAsync(run))).toEqual([
      "turn.started",
      "item.started",
      "item.delta",
      "item.completed",
      "turn.completed",
    ]);
    expect((await run).finalResponse).toBe("early");
    expect(thread.busy).toBe(false);
  });

  it("whose end is never reported is read from the server once its thread is idle", async () => {
    const idle = { threadId, status: { type: "idle" } };
    const stored = { data: [turn.turn("completed")], nextCursor: null, backwardsCursor: null };
    await using codex = await launch(
      {
        on: {
          "turn/start": [reply, started, ...turn.message("m", "said"), notify("thread/status/changed", idle)],
          "thread/turns/list": [{ do: "reply", result: stored }],
        },
      },
      { reconcile: { idleGraceMs: 1, quietMs: 60_000, checkIntervalMs: 60_000 } },
    );
    const thread = await codex.startThread();
    expect(await thread.run("go")).toMatchObject({
      status: "completed",
      finalResponse: "said",
      durationMs: 5,
    });
  });

  it("that is silent is checked, and continues if it is running", async () => {
    const running = { data: [turn.turn()], nextCursor: null, backwardsCursor: null };
    await using codex = await launch(
      {
        on: {
          "turn/start": [reply, started],
          "thread/turns/list": [{ do: "reply", result: running }, ...turn.message("m", "slowly"), completed],
        },
      },
      { reconcile: { idleGraceMs: 1, quietMs: 1, checkIntervalMs: 5 } },
    );
    const thread = await codex.startThread();
    expect(await thread.run("go")).toMatchObject({ status: "completed", finalResponse: "slowly" });
  });

  it("ends even if one of its items does not", async () => {
    const [start] = turn.message("never", "");
    await using codex = await launch(onTurnStart(reply, started, start, completed));
    const thread = await codex.startThread();
    expect(await thread.run("go")).toMatchObject({ status: "completed", openItems: ["never"] });
  });

  it("of another client is published", async () => {
    const other = new FakeTurn(threadId, "turn-other");
    await using codex = await launch({
      on: {
        "thread/name/set": [
          { do: "reply", result: {} },
          other.started,
          ...other.message("m", "from the queue"),
          other.completed,
        ],
      },
    });
    const thread = await codex.startThread();
    const begun = new Promise<string>((resolve) => {
      thread.onTurn((unasked) => void unasked.result().then(({ finalResponse }) => resolve(finalResponse)));
    });
    await thread.rename("anything");
    await expect(begun).resolves.toBe("from the queue");
  });

  it("reports unknown notifications as unknown, and loses none", async () => {
    const item = { type: "hologram", id: "h", shape: "cube" };
    await using codex = await launch(
      onTurnStart(
        reply,
        started,
        turn.notify("turn/dreamt", { dream: "sheep" }),
        ...turn.item(item),
        turn.notify("turn/plan/updated", { plan: [{ step: "x", status: "pondering" }], explanation: null }),
        completed,
      ),
    );
    const thread = await codex.startThread();
    const run = thread.run("go");
    expect(await Array.fromAsync(run)).toContainEqual(
      expect.objectContaining({
        type: "unknown",
        turnId,
        raw: expect.objectContaining({
          method: "turn/dreamt",
          params: { threadId, turnId, dream: "sheep" },
        }) as unknown,
      }),
    );
    expect(await run).toMatchObject({ items: [item], plan: [{ step: "x", status: "pondering" }] });
  });

  it("is kept apart from the turns of its agents", async () => {
    const child = new FakeTurn("thread-child", "turn-child");
    await using codex = await launch(
      onTurnStart(
        reply,
        started,
        // The child's events arrive before its parent reports that it started it.
        child.started,
        ...child.message("c1", "child's words"),
        ...turn.spawnAgent(child.threadId),
        child.completed,
        ...turn.message("m1", "parent's words"),
        completed,
      ),
    );
    const everything = codex.events();
    const thread = await codex.startThread();
    const run = thread.run("go");
    const result = await run;
    expect(result.finalResponse).toBe("parent's words");
    expect(result.items.map(({ id }) => id)).toEqual(["spawn", "m1"]);
    expect(thread.agents).toMatchObject([
      { threadId: child.threadId, parentThreadId: threadId, prompt: "look around", agents: [] },
    ]);
    const ofChild: string[] = [];
    for await (const event of everything) {
      if (event.type === "turn.completed" && event.threadId === threadId) break;
      if (event.type === "turn.completed") ofChild.push(event.result.finalResponse);
    }
    expect(ofChild).toEqual(["child's words"]);
  });

  it("reaches a stalled reader in few, large deltas, without loss", async () => {
    const [start, , completion] = turn.message("m", "x".repeat(20_000));
    const deltas = turn.notify("item/agentMessage/delta", { itemId: "m", delta: "x" }, 20_000);
    await using codex = await launch(onTurnStart(reply, started, start, deltas, completion, completed));
    const thread = await codex.startThread();
    const run = thread.run("go");
    const reader = run[Symbol.asyncIterator]();
    await reader.next();
    await run; // Everything has arrived, and this reader has read one event.
    let text = "";
    let count = 0;
    for (let next = await reader.next(); !next.done; next = await reader.next()) {
      if (next.value.type !== "item.delta") continue;
      text += next.value.delta;
      count += 1;
    }
    expect(text).toBe("x".repeat(20_000));
    expect(count).toBeLessThan(10);
  });
});

describe("a server", () => {
  it("can print garbage, answer twice and send a line of 32 MB", async () => {
    await using codex = await launch(
      onTurnStart(
        { do: "print", text: "thread 'main' panicked\n[]\n" },
        { do: "hugeLine", bytes: 32 * 1024 * 1024 },
        reply,
        reply,
        started,
        completed,
      ),
    );
    const events = codex.events();
    const thread = await codex.startThread();
    expect(await thread.run("go")).toMatchObject({ status: "completed" });
    const kinds: string[] = [];
    for await (const event of events) {
      if (event.type === "warning") kinds.push(event.kind);
      if (event.type === "turn.completed") break;
    }
    expect(kinds.filter((kind) => kind === "malformed").length).toBeGreaterThanOrEqual(2);
  });

  it("that never answers does not block a caller that aborts", async () => {
    await using codex = await launch(onTurnStart({ do: "nothing" }));
    const thread = await codex.startThread();
    const controller = new AbortController();
    const run = thread.run("go", { signal: controller.signal });
    setImmediate(() => controller.abort());
    await expect(run).rejects.toMatchObject({ code: "aborted" });
    await expect(Array.fromAsync(run)).rejects.toMatchObject({ code: "aborted" });
  });

  it("that never completes the handshake times out, with its stderr in the error", async () => {
    const mute: FakeBehaviour = { on: { initialize: [{ do: "stderr", text: "loading…" }] } };
    await expect(launch(mute, { handshakeTimeoutMs: 300 })).rejects.toMatchObject({
      code: "codex_start_failed",
    });
  });

  it("that never completes the handshake does not block a caller that aborts", async () => {
    const mute: FakeBehaviour = { on: { initialize: [] } };
    const reason = new Error("no patience");
    await expect(launch(mute, { signal: AbortSignal.abort(reason) })).rejects.toMatchObject({
      code: "aborted",
    });
    const controller = new AbortController();
    const launched = launch(mute, { signal: controller.signal });
    setImmediate(() => controller.abort(reason));
    await expect(launched).rejects.toMatchObject({ code: "aborted", cause: reason });
  });

  it("that closes its stdin, or dies after some lines, fails the turn with the cause", async () => {
    const deaf = onTurnStart(reply, started, { do: "closeStdin" }, { do: "kill", signal: "SIGKILL" });
    await using first = await launch(deaf);
    await expect((await first.startThread()).run("go")).rejects.toMatchObject({ code: "app_server_crashed" });
    await using second = await launch({ dieAfterLines: 3 });
    await expect((await second.startThread()).run("go")).rejects.toMatchObject({
      code: "app_server_crashed",
    });
  });

  it("that repeats a request with a string ID gets one response with that ID", async () => {
    const ask: FakeAction = {
      do: "request",
      id: "ask-1",
      method: "item/commandExecution/requestApproval",
      params: {
        kind: "command",
        threadId,
        turnId,
        itemId: "i",
        startedAtMs: 1,
        environmentId: null,
        command: "ls",
        cwd: "/",
      },
    };
    let answers = 0;
    let open: (() => void) | undefined;
    const asked = new Promise<void>((resolve) => {
      open = resolve;
    });
    await using codex = await launch(
      {
        on: {
          "turn/start": [reply, started, ask, ask, reply],
          "thread/name/set": [{ do: "reply", result: {} }, completed],
        },
      },
      {
        handlers: {
          commandApproval: async () => {
            answers += 1;
            await asked;
            return "accept" as const;
          },
        },
      },
    );
    const answered: unknown[] = [];
    const events = codex.events();
    const thread = await codex.startThread();
    const run = thread.run("go");
    for await (const event of events) if (event.type === "approval.requested") break;
    open?.();
    for await (const event of codex.events()) {
      if (event.type !== "unknown" || event.raw.method !== "fake/answered") continue;
      answered.push(event.raw.params);
      break;
    }
    await thread.rename("anything");
    await run;
    expect(answers).toBe(1);
    expect(answered).toEqual([{ id: "ask-1", result: { decision: "accept" } }]);
  });
});
