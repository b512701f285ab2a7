import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { firstEvent, ThreadStage } from "../../test/thread-stage.ts";
import type { CodexEvent } from "../events/event.ts";

let stage: ThreadStage;

beforeAll(async () => {
  stage = await ThreadStage.launch();
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

describe("a thread", () => {
  it("has a queue that can be edited, reordered and started", async () => {
    const thread = await stage.startThread();
    const held = thread.run("hold editing");
    await firstEvent(held, "item.delta");
    const a = await thread.queue.add("a");
    const b = await thread.queue.add("b");
    const c = await thread.queue.add("c");
    await thread.queue.update(b.id, "b, edited");
    await thread.queue.delete(a.id);
    await thread.queue.reorder([c.id, b.id]);
    expect((await thread.queue.list()).map(({ id }) => id)).toEqual([c.id, b.id]);
    const replies: string[] = [];
    const events = thread.events();
    await held.interrupt(); // An interrupt stops the queue.
    await thread.queue.start(b.id);
    for await (const event of events) {
      if (event.type === "turn.completed") replies.push(event.result.finalResponse);
      if (replies.length === 2) break;
    }
    expect(replies).toEqual(["received: b, edited", "received: c"]);
  });

  it("is resumed without its history, which is read in pages", async () => {
    const thread = await stage.startThread();
    for (const word of ["one", "two", "three"]) await thread.run(word);
    await thread.close();
    const resumed = await stage.codex.resumeThread(thread.id);
    expect(resumed.id).toBe(thread.id);
    const turns = await Array.fromAsync(resumed.history.turns({ limit: 2, itemsView: "full" }));
    expect(turns).toHaveLength(3);
    const items = await Array.fromAsync(resumed.history.items({ limit: 2, sortDirection: "asc" }));
    const replies = items.flatMap(({ item }) => (item.type === "agentMessage" ? [item.text] : []));
    expect(replies).toEqual(["received: one", "received: two", "received: three"]);
    const found = await Array.fromAsync(resumed.history.search("three"));
    expect(found.length).toBeGreaterThan(0);
  });

  it("is forked through a turn and before one", async () => {
    const thread = await stage.startThread();
    const one = await thread.run("one");
    const two = await thread.run("two");
    const through = await thread.fork({ lastTurnId: one.turnId });
    const before = await stage.codex.forkThread(thread.id, { beforeTurnId: two.turnId });
    const whole = await thread.fork();
    const counts = await Promise.all(
      [through, before, whole, thread].map(
        async (each) => (await Array.fromAsync(each.history.turns())).length,
      ),
    );
    expect(counts).toEqual([1, 1, 2, 2]);
    expect((await through.run("further")).finalResponse).toBe("received: further");
  });

  it("can be reverted to the state before a turn", async () => {
    const thread = await stage.startThread();
    await thread.run("one");
    const two = await thread.run("two");
    await thread.revert(two.turnId);
    expect(await Array.fromAsync(thread.history.turns())).toHaveLength(1);
    expect((await thread.run("other two")).finalResponse).toBe("received: other two");
  });

  it("is named, listed, searched, read, archived, restored and deleted", async () => {
    const { codex } = stage;
    const thread = await stage.startThread();
    await thread.run("a needle called xylophone");
    await thread.rename("My thread");
    expect(await thread.read()).toMatchObject({ id: thread.id, name: "My thread" });
    const listed = await Array.fromAsync(codex.listThreads({ cwd: stage.workspace, limit: 3 }));
    expect(listed.map(({ id }) => id)).toContain(thread.id);
    const found = await Array.fromAsync(codex.searchThreads("xylophone"));
    expect(found.map((hit) => hit.thread.id)).toContain(thread.id);
    await thread.archive();
    const archived = await Array.fromAsync(codex.listThreads({ archived: true }));
    expect(archived.map(({ id }) => id)).toContain(thread.id);
    await thread.unarchive();
    expect(await codex.readThread(thread.id)).toMatchObject({ id: thread.id });
    await thread.delete();
    await expect(codex.readThread(thread.id)).rejects.toMatchObject({ code: "thread_not_found" });
  });

  it("accepts injected history without a turn", async () => {
    const thread = await stage.startThread();
    await thread.inject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "injected words" }] },
    ]);
    await thread.run("and now");
    const request = await stage.model.findRequest(({ lastUserText }) => lastUserText === "and now");
    expect(JSON.stringify(request.input)).toContain("injected words");
  });

  it("has a goal that can be set, read and cleared", async () => {
    const thread = await stage.startThread();
    await thread.run("hello");
    const goal = await thread.goal.set({ objective: "reach the top", status: "paused", tokenBudget: 1_000 });
    expect(goal).toMatchObject({ objective: "reach the top", status: "paused", tokenBudget: 1_000 });
    expect(await thread.goal.get()).toMatchObject({ objective: "reach the top" });
    await thread.goal.clear();
    expect(await thread.goal.get()).toBeNull();
  });

  it("is compacted, as a turn", async () => {
    const thread = await stage.startThread();
    await thread.run("hello");
    const { items, status } = await thread.compact();
    expect(status).toBe("completed");
    expect(items.map(({ type }) => type)).toContain("contextCompaction");
  });

  it("reviews, as a turn", async () => {
    const thread = await stage.startThread();
    const { items, status } = await thread.review({ type: "custom", instructions: "look at nothing" });
    expect(status).toBe("completed");
    expect(items.map(({ type }) => type)).toEqual(
      expect.arrayContaining(["enteredReviewMode", "exitedReviewMode"]),
    );
    // A review has two IDs on the wire. Here it is one turn, which has ended.
    expect(thread.busy).toBe(false);
    expect((await thread.run("after it")).finalResponse).toBe("received: after it");
  });

  it("rejects other calls during a review, which can be interrupted", async () => {
    const thread = await stage.startThread();
    const review = thread.review({ type: "custom", instructions: "hold review" });
    await firstEvent(review, "turn.started");
    await expect(thread.review({ type: "uncommittedChanges" })).rejects.toMatchObject({
      code: "thread_busy",
    });
    await expect(thread.compact()).rejects.toMatchObject({ code: "thread_busy" });
    await expect(thread.revert(await review.id)).rejects.toMatchObject({ code: "thread_busy" });
    await expect(review.steer("more")).rejects.toMatchObject({ code: "turn_not_steerable" });
    await review.interrupt();
    expect(await review).toMatchObject({ status: "interrupted" });
    expect(thread.busy).toBe(false);
  });

  it("runs a shell command for the user, in a new turn or in the running one", async () => {
    const thread = await stage.startThread();
    const { items } = await thread.shell("echo by-hand");
    expect(items).toContainEqual(
      expect.objectContaining({
        type: "commandExecution",
        source: "userShell",
        aggregatedOutput: expect.stringContaining("by-hand") as string,
      }),
    );
    const held = thread.run("hold shell");
    await firstEvent(held, "item.delta");
    const joined = thread.shell("echo in-between");
    expect(await joined.id).toBe(await held.id);
    stage.openGate("shell");
    await held;
  });

  it("lists and terminates background commands, and reports their late end", async () => {
    const thread = await stage.startThread({ sandbox: "danger-full-access" });
    const events = thread.events();
    const { openItems } = await thread.run("background sleep 600");
    const [terminal] = await thread.terminals.list();
    expect(terminal?.command).toContain("sleep 600");
    expect(openItems).toEqual([terminal?.itemId]);
    await thread.terminals.terminate(terminal?.processId ?? "");
    const ends = async (): Promise<CodexEvent | undefined> => {
      for await (const event of events) {
        if (event.type === "item.completed" && event.item.id === terminal?.itemId) return event;
      }
      return undefined;
    };
    expect(await ends()).toMatchObject({ late: true });
    await thread.terminals.clean();
    expect(await thread.terminals.list()).toEqual([]);
  });

  it("accepts settings for later turns, and for one turn", async () => {
    const thread = await stage.startThread();
    await thread.updateSettings({ effort: "high" });
    await thread.run("settled one");
    const settled = await stage.model.findRequest(({ lastUserText }) => lastUserText === "settled one");
    expect(settled.body).toMatchObject({ reasoning: { effort: "high" } });
    await thread.run("turned two", { effort: "low" });
    const turned = await stage.model.findRequest(({ lastUserText }) => lastUserText === "turned two");
    expect(turned.body).toMatchObject({ reasoning: { effort: "low" } });
  });

  it("gets no events after it is closed, and rejects later calls", async () => {
    const thread = await stage.startThread();
    const events = Array.fromAsync(thread.events());
    await thread.close();
    expect(await events).toEqual([]);
    await expect(thread.run("hello?")).rejects.toMatchObject({ code: "closed" });
  });
});

describe("invalid input", () => {
  it("is rejected before anything is sent", async () => {
    const { codex } = stage;
    await expect(codex.startThread({ cwd: "somewhere" })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(join(process.cwd(), "somewhere")) as string,
    });
    await expect(codex.startThread({ cwd: join(stage.workspace, "missing") })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    const thread = await stage.startThread();
    await expect(thread.run("x".repeat(1_048_577))).rejects.toMatchObject({ code: "input_too_large" });
    await expect(thread.run({ image: "no-such.png" })).rejects.toMatchObject({ code: "invalid_argument" });
    expect(() => thread.run("x", { outputSchema: "not a schema" as never })).toThrow(
      expect.objectContaining({ code: "invalid_schema" }) as Error,
    );
    await expect(codex.resumeThread("no-such-thread")).rejects.toMatchObject({ code: "thread_not_found" });
  });

  it("includes the ID of a thread that another process has open: the error lists the alternatives", async () => {
    const thread = await stage.startThread();
    await thread.run("mine");
    const { Codex } = await import("../codex.ts");
    await using other = await Codex.launch(stage.launchOptions);
    await expect(other.resumeThread(thread.id)).rejects.toMatchObject({
      code: "thread_locked",
      message: expect.stringMatching(/wait|fork|read/i) as string,
    });
    expect(await other.readThread(thread.id)).toMatchObject({ id: thread.id });
    const fork = await other.forkThread(thread.id);
    expect((await fork.run("forked")).finalResponse).toBe("received: forked");
  });
});
