import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { codexStage, userPrompt, threadIdOf } from "../../test/codex-stage.ts";
import { say } from "@codexkit/scripted-model";
import { AI_SDK_LIMITS } from "../limits.ts";
import { PrestartedThreads } from "./prestarted-threads.ts";

describe("threads started in advance", () => {
  let opened = 0;
  let closed: number[];
  let ready: PrestartedThreads<number>;
  const open = async () => (opened += 1);
  /** A call arrives, and its turn begins. */
  const call = (kind: string, concurrent = 1) => {
    const taken = ready.take(kind);
    ready.prepare(kind, concurrent, open);
    return taken;
  };

  beforeEach(() => {
    vi.useFakeTimers();
    opened = 0;
    closed = [];
    ready = new PrestartedThreads(
      (one) => void closed.push(one),
      AI_SDK_LIMITS.prestartedThreads,
      () => Date.now(),
    );
  });
  afterEach(() => void vi.useRealTimers());

  it("match the number of concurrent calls of their kind, once one would have been used", async () => {
    expect(call("a")).toBeUndefined();
    expect(opened).toBe(0);
    expect(call("a", 3)).toBeUndefined();
    expect(opened).toBe(3);
    expect(ready.take("b")).toBeUndefined();
    await expect(ready.take("a")).resolves.toBe(1);
    ready.prepare("a", 100, open);
    expect(opened).toBe(AI_SDK_LIMITS.prestartedThreads + 1);
  });

  it("are not started for bursts that arrive after they would have expired", async () => {
    for (let burst = 0; burst < 3; burst += 1) {
      for (let arrival = 0; arrival < 8; arrival += 1) expect(ready.take("a")).toBeUndefined();
      for (let begun = 0; begun < 8; begun += 1) ready.prepare("a", 8, open);
      await vi.advanceTimersByTimeAsync(AI_SDK_LIMITS.prestartedThreadMs + 2_000);
    }
    expect(opened).toBe(0);
  });

  it("are started again only after a call that would have used one", async () => {
    void call("a");
    void call("a");
    expect(opened).toBe(1);
    await vi.advanceTimersByTimeAsync(AI_SDK_LIMITS.prestartedThreadMs);
    expect(closed).toEqual([1]);
    void call("a");
    expect(opened).toBe(1);
    void call("a");
    expect(opened).toBe(2);
    await expect(call("a")).resolves.toBe(2);
    expect(opened).toBe(3);
  });

  it("are not started if the limit is 0", () => {
    ready = new PrestartedThreads(
      (one) => void closed.push(one),
      0,
      () => Date.now(),
    );
    for (let calls = 0; calls < 4; calls += 1) expect(call("a", 8)).toBeUndefined();
    expect(opened).toBe(0);
  });

  it("are released when other kinds of calls are more recent, and on clear", async () => {
    void call("a");
    void call("a");
    for (let kind = 0; kind < AI_SDK_LIMITS.prestartedKinds; kind += 1) void call(`other ${kind}`);
    await vi.advanceTimersByTimeAsync(0);
    expect(closed).toEqual([1]);

    void call("other 0");
    ready.clear();
    await vi.advanceTimersByTimeAsync(0);
    expect(closed).toEqual([1, 2]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("reject the call that takes them if they failed to start", async () => {
    void call("a");
    void ready.take("a");
    ready.prepare("a", 1, async () => Promise.reject(new Error("no codex")));
    await expect(ready.take("a")).rejects.toThrow("no codex");
  });
});

describe("a program that repeats one kind of call", () => {
  it("uses the prestarted thread, and calls of another kind don't", async () => {
    await using stage = await codexStage(() => say("Hello."));
    const started: string[] = [];
    stage.stage.codex.on("thread/started", ({ thread }) => void started.push(thread.id));
    const threadOf = async (system?: string) => {
      const prompt = [
        ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
        ...userPrompt("go"),
      ];
      const { finishReason, warnings, providerMetadata } = await stage.codex().doGenerate({ prompt });
      expect({ finishReason, warnings }).toMatchObject({ finishReason: { unified: "stop" }, warnings: [] });
      return threadIdOf(providerMetadata);
    };
    const first = [await threadOf(), await threadOf()];
    await expect.poll(() => started.length).toBe(3);
    expect(started.slice(0, 2)).toEqual(first);
    expect(await threadOf("Be brief.")).not.toBe(started[2]);
    expect(await threadOf()).toBe(started[2]);
  });

  it("gets a new thread if codex died in the meantime", async () => {
    await using stage = await codexStage(() => say("Hello."));
    const { codex } = stage.stage;
    const started: string[] = [];
    codex.on("thread/started", ({ thread }) => void started.push(thread.id));
    for (let call = 0; call < 2; call += 1) await stage.codex().doGenerate({ prompt: userPrompt("go") });
    await expect.poll(() => started.length).toBe(3);
    process.kill(codex.pid ?? 0, "SIGKILL");
    await expect.poll(() => codex.pid).toBeUndefined();
    const { content, warnings } = await stage.codex().doGenerate({ prompt: userPrompt("go") });
    expect(content).toMatchObject([{ type: "text", text: "Hello." }]);
    expect(warnings).toEqual([]);
  });

  it("gets a new thread, without a warning, if the server has unloaded the prestarted ones", async () => {
    let answers = () => Promise.resolve();
    await using stage = await codexStage(async () => {
      await answers();
      return say("Hello.");
    });
    const { codex } = stage.stage;
    const started: string[] = [];
    codex.on("thread/started", ({ thread }) => void started.push(thread.id));
    const call = () => stage.codex().doGenerate({ prompt: userPrompt("go") });
    await call();
    // Two concurrent calls that end only after both have started, so that two threads are prestarted for the next calls.
    const twoStarted = Promise.withResolvers<void>();
    answers = () => twoStarted.promise;
    const calls = Promise.all([call(), call()]);
    await expect.poll(() => started.length).toBe(5);
    twoStarted.resolve();
    await calls;
    for (const threadId of started.slice(3)) await codex.request("thread/unsubscribe", { threadId });
    const loaded = async () => (await codex.request("thread/loaded/list", {})).data;
    await expect.poll(loaded).not.toEqual(expect.arrayContaining([started[3]]));
    const { content, warnings, providerMetadata } = await call();
    expect(content).toMatchObject([{ type: "text", text: "Hello." }]);
    expect(warnings).toEqual([]);
    expect(started.slice(0, 5)).not.toContain(threadIdOf(providerMetadata));
  });
});
