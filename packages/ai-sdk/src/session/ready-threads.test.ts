import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { codexStage, said, threadIdOf } from "../../test/codex-stage.ts";
import { say } from "@codexkit/scripted-model";
import { limits } from "../limits.ts";
import { ReadyThreads } from "./ready-threads.ts";

describe("threads that are started ahead", () => {
  let opened = 0;
  let closed: number[];
  let ready: ReadyThreads<number>;
  const open = async () => (opened += 1);

  beforeEach(() => {
    vi.useFakeTimers();
    opened = 0;
    closed = [];
    ready = new ReadyThreads((one) => void closed.push(one));
  });
  afterEach(() => void vi.useRealTimers());

  it("are as many as calls of their kind were made at once, from the second call on", async () => {
    ready.prepare("a", 1, open);
    expect(ready.take("a")).toBeUndefined();
    ready.prepare("a", 1, open);
    ready.prepare("a", 3, open);
    expect(opened).toBe(3);
    expect(ready.take("b")).toBeUndefined();
    await expect(ready.take("a")).resolves.toBe(1);
    ready.prepare("a", 100, open);
    expect(opened).toBe(limits.readyThreads + 1);
  });

  it("are let go when nobody comes for them, when others are wanted, and at the end", async () => {
    for (const atOnce of [1, 2]) ready.prepare("a", atOnce, open);
    await vi.advanceTimersByTimeAsync(limits.readyThreadMs);
    expect(closed).toEqual([1, 2]);
    expect(ready.take("a")).toBeUndefined();

    ready.prepare("a", 1, open);
    for (let kind = 0; kind < limits.readyKinds; kind += 1) ready.prepare(`other ${kind}`, 1, open);
    await vi.advanceTimersByTimeAsync(0);
    expect(closed).toEqual([1, 2, 3]);

    ready.prepare("other 0", 1, open);
    ready.clear();
    await vi.advanceTimersByTimeAsync(0);
    expect(closed).toEqual([1, 2, 3, 4]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("that fail to start are the concern of whoever takes them", async () => {
    ready.prepare("a", 1, open);
    ready.prepare("a", 1, async () => Promise.reject(new Error("no codex")));
    await expect(ready.take("a")).rejects.toThrow("no codex");
  });
});

describe("a program that repeats one kind of call", () => {
  it("finds its next thread started, and no call of another kind gets it", async () => {
    await using stage = await codexStage(() => say("Hello."));
    const started: string[] = [];
    stage.stage.codex.on("thread/started", ({ thread }) => void started.push(thread.id));
    const threadOf = async (system?: string) => {
      const prompt = [
        ...(system === undefined ? [] : [{ role: "system", content: system } as const]),
        ...said("go"),
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

  it("gets a new one when codex died meanwhile", async () => {
    await using stage = await codexStage(() => say("Hello."));
    const { codex } = stage.stage;
    const started: string[] = [];
    codex.on("thread/started", ({ thread }) => void started.push(thread.id));
    for (let call = 0; call < 2; call += 1) await stage.codex().doGenerate({ prompt: said("go") });
    await expect.poll(() => started.length).toBe(3);
    process.kill(codex.pid ?? 0, "SIGKILL");
    await expect.poll(() => codex.pid).toBeUndefined();
    const { content, warnings } = await stage.codex().doGenerate({ prompt: said("go") });
    expect(content).toMatchObject([{ type: "text", text: "Hello." }]);
    expect(warnings).toEqual([]);
  });

  it("gets a new one, without a word, when the server let go of those that were ready", async () => {
    await using stage = await codexStage(() => say("Hello."));
    const { codex } = stage.stage;
    const started: string[] = [];
    codex.on("thread/started", ({ thread }) => void started.push(thread.id));
    const call = () => stage.codex().doGenerate({ prompt: said("go") });
    await call();
    // Two at once: two threads wait for the next calls.
    await Promise.all([call(), call()]);
    await expect.poll(() => started.length).toBe(5);
    for (const threadId of started.slice(3)) await codex.request("thread/unsubscribe", { threadId });
    const loaded = async () => (await codex.request("thread/loaded/list", {})).data;
    await expect.poll(loaded).not.toEqual(expect.arrayContaining([started[3]]));
    const { content, warnings, providerMetadata } = await call();
    expect(content).toMatchObject([{ type: "text", text: "Hello." }]);
    expect(warnings).toEqual([]);
    expect(started.slice(0, 5)).not.toContain(threadIdOf(providerMetadata));
  });
});
