import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstEvent, ThreadStage } from "../../test/thread-stage.ts";

let stage: ThreadStage;

beforeAll(async () => {
  stage = await ThreadStage.launch();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("a turn", () => {
  it("can be awaited and iterated by two readers at once, and again after its end", async () => {
    const thread = await stage.startThread();
    const turn = thread.run("hello there");
    const [one, two, result] = await Promise.all([Array.fromAsync(turn), Array.fromAsync(turn), turn]);
    expect(result).toMatchObject({
      status: "completed",
      finalResponse: "received: hello there",
      openItems: [],
    });
    expect(one.map(({ type }) => type)).toEqual(two.map(({ type }) => type));
    expect(one[0]?.type).toBe("turn.started");
    expect(one.at(-1)?.type).toBe("turn.completed");
    const late = await Array.fromAsync(turn);
    const text = late.flatMap((event) => (event.type === "item.delta" ? [event.delta] : [])).join("");
    expect(text).toBe("received: hello there");
    expect((await turn).items).toEqual(result.items);
  });

  it("yields only the agent's messages as text", async () => {
    const thread = await stage.startThread();
    const words = await Array.fromAsync(thread.run("some words").text());
    expect(words.join("")).toBe("received: some words");
  });

  it("counts the tokens of all its model responses, but not those of earlier turns", async () => {
    const thread = await stage.startThread();
    await thread.run("something before");
    const { usage: counted } = await thread.run("run true");
    expect(counted).toMatchObject({
      inputTokens: 300,
      cachedInputTokens: 60,
      outputTokens: 25,
      totalTokens: 325,
    });
  });

  it("reports commands, patches, the diff and the plan", async () => {
    const thread = await stage.startThread();
    const ran = await thread.run("run echo from-the-shell");
    expect(ran.items).toContainEqual(
      expect.objectContaining({
        type: "commandExecution",
        exitCode: 0,
        aggregatedOutput: expect.stringContaining("from-the-shell") as string,
      }),
    );
    const wrote = await thread.run("write made-by-patch.txt");
    expect(await readFile(join(stage.workspace, "made-by-patch.txt"), "utf8")).toBe("hello\n");
    expect(wrote.diff).toContain("+hello");
    const { plan } = await thread.run("plan");
    expect(plan).toEqual([
      { step: "look", status: "completed" },
      { step: "leap", status: "inProgress" },
    ]);
  });

  it("can be steered while it is running", async () => {
    const thread = await stage.startThread();
    const turn = thread.run("hold steer");
    await firstEvent(turn, "item.delta");
    await turn.steer("and this too");
    stage.openGate("steer");
    const { items, finalResponse } = await turn;
    expect(items.filter(({ type }) => type === "userMessage")).toHaveLength(2);
    expect(finalResponse).toBe("received: and this too");
    await expect(turn.steer("too late")).rejects.toMatchObject({ code: "turn_not_active" });
    await expect(thread.steer("too late")).rejects.toMatchObject({ code: "turn_not_active" });
  });

  it("keeps its partial message when it is interrupted", async () => {
    const thread = await stage.startThread();
    const turn = thread.run("hold for-ever");
    await firstEvent(turn, "item.delta");
    await turn.interrupt();
    await expect(turn).resolves.toMatchObject({ status: "interrupted", finalResponse: "half " });
    await turn.interrupt();
    expect(thread.busy).toBe(false);
    await expect(thread.run("again")).resolves.toMatchObject({ finalResponse: "received: again" });
  });

  it("can be interrupted and aborted just before it is active", async () => {
    const thread = await stage.startThread();
    const interrupted = thread.run("hold early");
    await interrupted.id;
    await interrupted.interrupt();
    await expect(interrupted).resolves.toMatchObject({ status: "interrupted" });
    const abort = new AbortController();
    const aborted = thread.run("hold early", { signal: abort.signal });
    await aborted.id;
    abort.abort();
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    expect(thread.busy).toBe(false);
  });

  it("is aborted by its signal, with the partial result in the error", async () => {
    const thread = await stage.startThread();
    const controller = new AbortController();
    const turn = thread.run("hold aborted", { signal: controller.signal });
    await firstEvent(turn, "item.delta");
    const reason = new Error("enough");
    controller.abort(reason);
    await expect(turn).rejects.toMatchObject({
      code: "aborted",
      cause: reason,
      result: { finalResponse: "half " },
    });
    const never = thread.run("nothing", { signal: AbortSignal.abort(reason) });
    await expect(never).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("a busy thread", () => {
  it("rejects more input by default", async () => {
    const thread = await stage.startThread();
    const turn = thread.run("hold reject");
    await turn.id;
    expect(thread.busy).toBe(true);
    await expect(thread.run("more")).rejects.toMatchObject({ code: "thread_busy" });
    stage.openGate("reject");
    await turn;
  });

  it("never merges two turns that are started concurrently", async () => {
    const thread = await stage.startThread();
    const [one, two] = await Promise.allSettled(
      [thread.run("hold at-once"), thread.run("other")].map((turn) => turn.id),
    );
    stage.openGate("at-once");
    expect([one?.status, two?.status]).toEqual(["fulfilled", "rejected"]);
    await thread.run("after", { whenBusy: "wait" });
  });

  it("starts waiting turns in order", async () => {
    const thread = await stage.startThread();
    const held = thread.run("hold wait");
    await held.id;
    const waiting = ["one", "two", "three"].map((word) => thread.run(word, { whenBusy: "wait" }));
    stage.openGate("wait");
    const ids = await Promise.all([held, ...waiting].map(async (turn) => (await turn).turnId));
    expect(ids).toEqual(ids.toSorted());
    expect((await waiting[2])?.finalResponse).toBe("received: three");
  });

  it("adds input to the running turn with whenBusy: steer", async () => {
    const thread = await stage.startThread();
    const held = thread.run("hold join");
    await firstEvent(held, "item.delta");
    const joined = thread.run("more of it", { whenBusy: "steer" });
    expect(await joined.id).toBe(await held.id);
    stage.openGate("join");
    expect((await joined).finalResponse).toBe("received: more of it");
    expect(await held).toEqual(await joined);
  });

  it("runs input from the server's queue with whenBusy: queue", async () => {
    const thread = await stage.startThread();
    const begun: string[] = [];
    using _listening = thread.onTurn((turn) => void turn.id.then((id) => begun.push(id)));
    const held = thread.run("hold queue");
    await firstEvent(held, "item.delta");
    const queued = thread.run("from the queue", { whenBusy: "queue" });
    stage.openGate("queue");
    const { finalResponse, turnId } = await queued;
    expect(finalResponse).toBe("received: from the queue");
    expect(begun).toEqual([await held.id, turnId]);
  });

  it("rejects settings for a queued turn, which uses those of the thread", async () => {
    const thread = await stage.startThread();
    const held = thread.run("hold queue-settings");
    await held.id;
    const queued = thread.run("x", { whenBusy: "queue", effort: "low" });
    await expect(queued).rejects.toMatchObject({ code: "invalid_argument" });
    stage.openGate("queue-settings");
    await held;
  });
});
