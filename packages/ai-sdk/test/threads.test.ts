// Tests which thread a call runs on, on the real codex.
import {
  callTool,
  type Gate,
  gate,
  say,
  type Script,
  type ScriptRequest,
  waitFor,
} from "@codexkit/scripted-model";
import { generateText, type ModelMessage, streamText, tool } from "ai";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { codexStage, threadIdOf } from "./codex-stage.ts";
import { type CodexModelProvider, createCodex } from "../src/index.ts";

/** Answers with the conversation that the model received. */
const echo: Script = (request) => say(conversation(request).join(" | "));

function conversation({ input }: ScriptRequest): string[] {
  return input.flatMap(({ type, role, content }) => {
    if (type !== "message" || !Array.isArray(content)) return [];
    const text = content.map((part: { text?: string }) => part.text ?? "").join("");
    if (role === "user") return text.startsWith("<") ? [] : [`u:${text}`];
    return role === "assistant" ? [`a:${text.slice(0, 12)}`] : [];
  });
}

const user = (content: string): ModelMessage => ({ role: "user", content });

interface Reported {
  readonly text: string;
  readonly threadId: string;
  readonly messages: ModelMessage[];
  readonly warnings: unknown[];
}

async function report(
  codex: CodexModelProvider,
  messages: ModelMessage[],
  options: object = {},
): Promise<Reported> {
  const result = await generateText({
    model: codex(),
    messages,
    providerOptions: { codex: { ...options } },
  });
  return {
    text: result.text,
    threadId: threadIdOf(result.providerMetadata),
    messages: [...messages, ...result.responseMessages],
    warnings: result.warnings ?? [],
  };
}

describe("a conversation", () => {
  it("continues in its own thread, which receives only the new messages", async () => {
    await using stage = await codexStage(echo);
    const first = await report(stage.codex, [user("one")]);
    const second = await report(stage.codex, [...first.messages, user("two")]);
    expect(second.threadId).toBe(first.threadId);
    expect(second.text).toBe("u:one | a:u:one | u:two");
    expect(second.warnings).toEqual([]);
    // Threads are not stored by default.
    expect(await Array.fromAsync(stage.codex.threads.list())).toEqual([]);
  });

  it("without a thread has its messages as real history", async () => {
    await using stage = await codexStage(echo);
    const { text } = await report(stage.codex, [
      user("one"),
      { role: "assistant", content: "1" },
      user("two"),
    ]);
    expect(text).toBe("u:one | a:1 | u:two");
  });

  it("whose last answer was removed leaves the thread unchanged, stored or not", async () => {
    for (const persist of [false, true]) {
      await using stage = await codexStage(echo, { persist });
      const first = await report(stage.codex, [user("one")]);
      await report(stage.codex, [...first.messages, user("two")]);
      const again = await report(stage.codex, [...first.messages, user("three")]);
      expect(again.text).toBe("u:one | a:u:one | u:three");
      expect(again.threadId).not.toBe(first.threadId);
      expect(again.warnings).toEqual([]);
    }
  });

  it("continues in a new thread when its own no longer exists, with a warning", async () => {
    await using stage = await codexStage(echo);
    const first = await report(stage.codex, [user("one")]);
    await using other = createCodex({ codex: stage.stage.codex, cwd: stage.workspace });
    const pid = stage.stage.codex.pid ?? 0;
    process.kill(pid, "SIGKILL");
    const second = await report(stage.codex, [...first.messages, user("two")]);
    expect(second.text).toBe("u:one | a:u:one | u:two");
    expect(second.warnings).toMatchObject([{ type: "other" }]);
    const third = await report(other, [...first.messages, user("two")]);
    expect(third.text).toBe("u:one | a:u:one | u:two");
    expect(third.warnings).toMatchObject([{ type: "other", message: expect.stringContaining("new one") }]);
  });

  it("is resumed by another process when it is stored", async () => {
    await using stage = await codexStage(echo, { persist: true });
    const first = await report(stage.codex, [user("one")]);
    await stage.codex.close();
    await stage.stage.codex.close();
    await using process2 = createCodex({
      launch: stage.stage.launchOptions,
      cwd: stage.workspace,
      persist: true,
    });
    const second = await report(process2, [...first.messages, user("two")]);
    expect(second).toMatchObject({ threadId: first.threadId, warnings: [] });
    expect(second.text).toBe("u:one | a:u:one | u:two");
  });

  it("receives new instructions", async () => {
    await using stage = await codexStage(echo);
    const { responseMessages } = await generateText({ model: stage.codex(), system: "Old.", prompt: "one" });
    await generateText({
      model: stage.codex(),
      system: "New.",
      messages: [user("one"), ...responseMessages, user("two")],
    });
    const seen = JSON.stringify(
      stage.model.requests.at(-1)?.input.filter(({ role }) => role === "developer"),
    );
    expect(seen.indexOf("New.")).toBeGreaterThan(seen.indexOf("Old."));
  });
});

describe("a named thread", () => {
  it("is continued, regardless of the messages", async () => {
    await using stage = await codexStage(echo);
    const { threadId } = await report(stage.codex, [user("one")]);
    const { text } = await report(stage.codex, [user("two")], { threadId });
    expect(text).toBe("u:one | a:u:one | u:two");
  });

  it("is copied with the fork option", async () => {
    await using stage = await codexStage(echo, { persist: true });
    const first = await report(stage.codex, [user("one")]);
    const fork = await report(stage.codex, [user("two")], { threadId: first.threadId, fork: true });
    expect(fork.text).toBe("u:one | a:u:one | u:two");
    expect(fork.threadId).not.toBe(first.threadId);
    const original = await report(stage.codex, [user("three")], { threadId: first.threadId });
    expect(original.text).toBe("u:one | a:u:one | u:three");
  });

  it.each([
    ["01a1def0-add8-7b20-9e38-97e003fbdd7b", {}],
    ["01a1def0-add8-7b20-9e38-97e003fbdd7b", { fork: true }],
    ["no-id", {}],
    ["no-id", { fork: true }],
  ])("is rejected if it does not exist: %s %j", async (threadId, options) => {
    await using stage = await codexStage(echo);
    const call = report(stage.codex, [user("one")], { threadId, ...options });
    await expect(call).rejects.toMatchObject({
      code: "thread_unavailable",
      message: expect.stringMatching(`^There is no thread "${threadId}".*persist`),
    });
  });

  it("can't be copied if it is not stored, and the error names the setting", async () => {
    await using stage = await codexStage(echo);
    const { threadId } = await report(stage.codex, [user("one")]);
    const fork = report(stage.codex, [user("two")], { threadId, fork: true });
    await expect(fork).rejects.toMatchObject({
      code: "thread_unavailable",
      message: expect.stringContaining("persist: true"),
    });
  });

  it("is compacted first with the compact option", async () => {
    await using stage = await codexStage(echo);
    const first = await report(stage.codex, [user("one")]);
    await report(stage.codex, [...first.messages, user("two")], { compact: true });
    expect(stage.model.requests).toHaveLength(3);
  });
});

describe("concurrent calls", () => {
  it("on one thread run one after the other, each as its own turn", async () => {
    await using stage = await codexStage(echo);
    const { threadId } = await report(stage.codex, [user("start")]);
    const numbers = Array.from({ length: 8 }, (_, index) => `n${index}`);
    const reported = await Promise.all(numbers.map((n) => report(stage.codex, [user(n)], { threadId })));
    expect(reported.map(({ text }) => text.split(" | ").at(-1))).toEqual(numbers.map((n) => `u:${n}`));
    expect(new Set(reported.map((one) => one.threadId))).toEqual(new Set([threadId]));
  });

  it("on different threads run in parallel on one codex", async () => {
    const gates = new Map<string, Gate>([
      ["a", gate()],
      ["b", gate()],
    ]);
    await using stage = await codexStage(({ lastUserText }) => [
      waitFor(gates.get(lastUserText) ?? gate()),
      say(lastUserText),
    ]);
    const both = ["a", "b"].map((text) => report(stage.codex, [user(text)]));
    await stage.model.waitForRequests(2);
    for (const one of gates.values()) one.open();
    expect((await Promise.all(both)).map(({ text }) => text)).toEqual(["a", "b"]);
  });

  it("that are aborted in the queue don't change the order of the others", async () => {
    const open = gate();
    await using stage = await codexStage(({ lastUserText }) => [
      ...(lastUserText === "slow" ? [waitFor(open)] : []),
      say(`did ${lastUserText}`),
    ]);
    const { threadId } = await report(stage.codex, [user("start")]);
    const slow = report(stage.codex, [user("slow")], { threadId });
    await stage.model.waitForRequests(2);
    const abort = new AbortController();
    const left = generateText({
      model: stage.codex(),
      prompt: "left",
      abortSignal: abort.signal,
      providerOptions: { codex: { threadId: threadId } },
    });
    const last = report(stage.codex, [user("last")], { threadId });
    abort.abort(new Error("gone"));
    await expect(left).rejects.toThrow("gone");
    open.open();
    expect((await slow).text).toBe("did slow");
    expect((await last).text).toBe("did last");
  });
});

describe("codex.threads", () => {
  it("steers a thread by the metadata of its output", async () => {
    const open = gate();
    let requests = 0;
    await using stage = await codexStage((request) => {
      requests += 1;
      if (requests === 1) return [say(["first ", waitFor(open), "."])];
      return say(conversation(request).at(-1) ?? "");
    });
    const { fullStream } = streamText({ model: stage.codex(), prompt: "go" });
    let text = "";
    let metadata = {};
    let unended: string[] = [];
    for await (const part of fullStream) {
      if (part.type === "text-delta") text += part.text;
      if (part.type === "text-end") unended = unended.filter((id) => id !== part.id);
      if (part.type !== "text-start") continue;
      expect(unended).toEqual([]);
      unended.push(part.id);
      if ("codex" in metadata) continue;
      metadata = part.providerMetadata ?? {};
      await stage.codex.threads.steer(metadata, "and this");
      open.open();
    }
    // Codex cuts off the current message without reporting it.
    expect(text).toMatch(/^first \.?u:and this$/);
    expect(unended).toEqual([]);
    await expect(stage.codex.threads.steer(metadata, "too late")).rejects.toThrow("turn");
  });

  it("interrupts, lists, reads, forks and compacts threads", async () => {
    const never = gate();
    await using stage = await codexStage(
      ({ lastUserText }) => (lastUserText === "hang" ? [say(["so far", waitFor(never)])] : say("ok")),
      { persist: true },
    );
    const { threads } = stage.codex;
    const { threadId } = await report(stage.codex, [user("one")]);
    const id = threadId;
    const hanging = generateText({
      model: stage.codex(),
      prompt: "hang",
      providerOptions: { codex: { threadId: id } },
    });
    await stage.model.waitForRequests(2);
    await threads.interrupt(id);
    expect(await hanging).toMatchObject({ finishReason: "interrupted" });
    expect((await threads.read(id)).id).toBe(id);
    const copy = await threads.fork(id);
    const listed = await Array.fromAsync(threads.list());
    expect(listed.map((thread) => thread.id)).toEqual(expect.arrayContaining([id]));
    expect(copy).not.toBe(id);
    await threads.compact(id);
    await threads.rename(id, "renamed");
    expect((await threads.read(id)).name).toBe("renamed");
    const turns = await threads.use(id, (thread) => Array.fromAsync(thread.history.turns()));
    expect(turns.length).toBeGreaterThanOrEqual(2);
    await threads.archive(copy);
    const archived = await Array.fromAsync(threads.list({ archived: true }));
    expect(archived.map((thread) => thread.id)).toEqual([copy]);
    await expect(threads.read({})).rejects.toThrow("codex.threadId");
  });

  it("queues input, which Codex runs by itself", async () => {
    const open = gate();
    await using stage = await codexStage(
      ({ lastUserText }) => (lastUserText === "slow" ? [waitFor(open), say("ok")] : say("queued ran")),
      { persist: true },
    );
    const { threadId } = await report(stage.codex, [user("one")]);
    const slow = report(stage.codex, [user("slow")], { threadId });
    await stage.model.waitForRequests(2);
    await stage.codex.threads.queue(threadId, "later");
    open.open();
    await slow;
    const [, , queued] = await stage.model.waitForRequests(3);
    expect(queued?.lastUserText).toBe("later");
  });

  it("rejects requests of a queued turn, which has no client, and the turn continues", async () => {
    const add = tool({ inputSchema: z.object({}), execute: () => "never" });
    await using stage = await codexStage(
      ({ lastUserText, newOutputs }) =>
        lastUserText === "later" && newOutputs.length === 0 ? callTool("add") : say("ok"),
      { persist: true },
    );
    const { providerMetadata = {} } = await generateText({
      model: stage.codex(),
      prompt: "one",
      tools: { add },
    });
    await stage.codex.threads.queue(providerMetadata, "later");
    const [, , reported] = await stage.model.waitForRequests(3);
    expect(reported?.newOutputs[0]?.text).toContain("there is no client to ask");
  });
});
