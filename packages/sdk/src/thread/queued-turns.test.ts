import { fail, gate, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { type LaunchedCodex, launchCodex } from "@codexkit/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodexEvent } from "../events/event.ts";
import type { Turn } from "../turn/turn.ts";
import type { Thread } from "./thread.ts";

const script: ScriptFunction = ({ lastUserText }) => {
  if (lastUserText === "hold") return say(["half ", waitFor(gate())]);
  if (lastUserText === "break") return [waitFor(broken), fail.http(400)];
  if (lastUserText === "wait") return say(["half ", waitFor(steering)]);
  return say(`received: ${lastUserText}`);
};
let broken = gate();
const steering = gate();

async function untilSpeaking(turn: Turn): Promise<void> {
  for await (const event of turn) if (event.type === "item.delta") return;
}

async function untilQueued(thread: Thread, count = 1): Promise<string[]> {
  for await (const event of thread.events()) {
    if (event.type !== "notice" || event.raw.method !== "thread/queue/changed") continue;
    const queue = await thread.queue.list();
    if (queue.length === count) return queue.map(({ id }) => id);
  }
  throw new Error("The thread was closed.");
}

/** Starts a thread whose turn does not end by itself. */
async function busyThread({ codex, workspace }: LaunchedCodex): Promise<{ thread: Thread; held: Turn }> {
  const thread = await codex.startThread({ cwd: workspace });
  const held = thread.run("hold");
  await untilSpeaking(held);
  return { thread, held };
}

/** Queues a turn on a busy thread. Not returned by itself, because awaiting a turn waits for its end. */
async function queueOne(thread: Thread): Promise<{ queued: Turn }> {
  const queued = thread.run("one", { whenBusy: "queue" });
  await untilQueued(thread);
  return { queued };
}

describe("a queued turn", () => {
  let stage: LaunchedCodex;

  beforeAll(async () => {
    stage = await launchCodex({ model: script, modelRetries: 0 });
  });

  afterAll(async () => {
    await stage[Symbol.asyncDispose]();
  });

  it("runs after the turn ahead was interrupted, in order", async () => {
    const { thread, held } = await busyThread(stage);
    const queued = [thread.run("one", { whenBusy: "queue" }), thread.run("two", { whenBusy: "queue" })];
    await untilQueued(thread, 2);
    await held.interrupt();
    const results = await Promise.all(queued);
    expect(results.map(({ finalResponse }) => finalResponse)).toEqual(["received: one", "received: two"]);
  });

  it("runs after the turn ahead was aborted", async () => {
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    const abort = new AbortController();
    const held = thread.run("hold", { signal: abort.signal });
    await untilSpeaking(held);
    const { queued } = await queueOne(thread);
    abort.abort();
    await expect(held).rejects.toMatchObject({ code: "aborted" });
    expect(await queued).toMatchObject({ finalResponse: "received: one" });
  });

  it("runs after another client interrupted the turn ahead", async () => {
    const { thread, held } = await busyThread(stage);
    const { queued } = await queueOne(thread);
    await stage.codex.request("turn/interrupt", { threadId: thread.id, turnId: await held.id });
    expect(await queued).toMatchObject({ finalResponse: "received: one" });
  });

  it("runs after the turn ahead failed", async () => {
    broken = gate();
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    const failing = thread.run("break");
    await failing.id;
    const { queued } = await queueOne(thread);
    broken.open();
    await expect(failing).rejects.toMatchObject({ code: "turn_failed" });
    expect(await queued).toMatchObject({ finalResponse: "received: one" });
  });

  it("leaves the queue when it is interrupted, and ends as interrupted", async () => {
    const { thread, held } = await busyThread(stage);
    const { queued } = await queueOne(thread);
    await queued.interrupt();
    expect(await queued).toMatchObject({ status: "interrupted", turnId: "", items: [] });
    const events: CodexEvent[] = await Array.fromAsync(queued);
    expect(events.map(({ type }) => type)).toEqual(["turn.interrupted"]);
    await expect(queued.id).rejects.toMatchObject({ code: "turn_not_found" });
    expect(await thread.queue.list()).toEqual([]);
    await held.interrupt();
  });

  it("can be interrupted while it is running", async () => {
    const { thread, held } = await busyThread(stage);
    const queued = thread.run("hold", { whenBusy: "queue" });
    await untilQueued(thread);
    await held.interrupt();
    await untilSpeaking(queued);
    await queued.interrupt();
    expect(await queued).toMatchObject({ status: "interrupted", finalResponse: "half " });
  });

  it("ends as interrupted when another client removes it", async () => {
    const { thread, held } = await busyThread(stage);
    const queued = thread.run("one", { whenBusy: "queue" });
    const [id = ""] = await untilQueued(thread);
    await stage.codex.request("thread/queue/delete", { threadId: thread.id, queuedSubmissionId: id });
    await held.interrupt();
    expect(await queued).toMatchObject({ status: "interrupted", turnId: "" });
  });

  it("ends when its thread is closed", async () => {
    const { thread } = await busyThread(stage);
    const { queued } = await queueOne(thread);
    await thread.close();
    await expect(queued).rejects.toMatchObject({ code: "closed" });
  });

  it("has the client's message ID, like started and steered turns", async () => {
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    const held = thread.run("wait", { clientUserMessageId: "started" });
    await untilSpeaking(held);
    const queued = thread.run("one", { whenBusy: "queue", clientUserMessageId: "queued" });
    await untilQueued(thread);
    await held.steer("more", { clientUserMessageId: "steered" });
    await thread.steer("and more", { clientUserMessageId: "steered too" });
    steering.open();
    const results = [await held, await queued];
    const ids = results.flatMap(({ items }) =>
      items.flatMap((item) => (item.type === "userMessage" ? [item.clientId] : [])),
    );
    expect(ids).toEqual(["started", "steered", "steered too", "queued"]);
  });

  it("is rejected on an ephemeral thread, which has no queue", async () => {
    const thread = await stage.codex.startThread({ cwd: stage.workspace, ephemeral: true });
    const held = thread.run("hold");
    await untilSpeaking(held);
    await expect(thread.run("one", { whenBusy: "queue" })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining('whenBusy: "wait"') as string,
    });
    await held.interrupt();
  });

  it("waits in the client with whenBusy: wait, and can be interrupted there", async () => {
    const { thread, held } = await busyThread(stage);
    const [first, second] = [
      thread.run("one", { whenBusy: "wait" }),
      thread.run("two", { whenBusy: "wait" }),
    ];
    await first.interrupt();
    expect(await first).toMatchObject({ status: "interrupted", turnId: "" });
    expect(thread.busy).toBe(true);
    await held.interrupt();
    expect(await second).toMatchObject({ finalResponse: "received: two" });
  });
});

describe("a queued turn whose codex ends", () => {
  it.each([
    [
      "is killed",
      "app_server_crashed",
      ({ codex }: LaunchedCodex) => process.kill(codex.pid ?? 0, "SIGKILL"),
    ],
    ["is closed", "closed", ({ codex }: LaunchedCodex) => codex.close()],
  ])("ends when codex %s", async (_, code, end) => {
    await using stage = await launchCodex({ model: script, modelRetries: 0 });
    const { thread, held } = await busyThread(stage);
    const { queued } = await queueOne(thread);
    await end(stage);
    await expect(queued).rejects.toMatchObject({ code });
    await expect(held).rejects.toMatchObject({ code });
  });
});

describe("a queued turn whose thread is archived or deleted", () => {
  it.each([
    ["archived", (thread: Thread) => thread.archive()],
    ["deleted", (thread: Thread) => thread.delete()],
    ["deleted by its id", ({ id }: Thread, { codex }: LaunchedCodex) => codex.deleteThread(id)],
  ])("ends when the thread is %s", async (_, end) => {
    await using stage = await launchCodex({ model: script, modelRetries: 0 });
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    await thread.run("stored");
    const held = thread.run("hold");
    await untilSpeaking(held);
    const queued = thread.run("one", { whenBusy: "queue" });
    const waiting = thread.run("two", { whenBusy: "wait" });
    await untilQueued(thread);
    const ends = Promise.allSettled([held, queued, waiting]);
    await end(thread, stage);
    const [first, second, third] = await ends;
    expect(second).toMatchObject({ status: "rejected", reason: { code: "closed" } });
    expect(first).toMatchObject({ status: "fulfilled", value: { status: "interrupted" } });
    expect(third.status).toBe("rejected");
    expect(thread.busy).toBe(false);
  });

  it("stays in the queue of an archived thread", async () => {
    await using stage = await launchCodex({ model: script, modelRetries: 0 });
    const { thread } = await busyThread(stage);
    const { queued } = await queueOne(thread);
    const end = Promise.allSettled([queued]);
    await thread.archive();
    expect(await end).toMatchObject([{ status: "rejected", reason: { code: "closed" } }]);
    await thread.unarchive();
    const { data } = await stage.codex.request("thread/queue/list", { threadId: thread.id });
    expect(data).toHaveLength(1);
  });
});
