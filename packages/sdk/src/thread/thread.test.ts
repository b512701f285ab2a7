import {
  callTool,
  gate,
  patch,
  run,
  say,
  type ScriptFunction,
  usage,
  waitFor,
} from "@codexkit/scripted-model";
import { type LaunchedCodex, launchCodex } from "@codexkit/testing";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { CodexEvent } from "../events/event.ts";
import type { Thread } from "./thread.ts";

// One real codex serves the whole file: each test has its own thread, and the script depends on the thread's input.

const gates = new Map<string, ReturnType<typeof gate>>();

/** A gate at which a prompt holds its turn until the test opens it. */
function gateOf(name: string): ReturnType<typeof gate> {
  const known = gates.get(name) ?? gate();
  gates.set(name, known);
  return known;
}

const script: ScriptFunction = ({ lastUserText, newOutputs }) => {
  const [, word = "", rest = ""] = /^(?<word>\S+) ?(?<rest>.*)$/s.exec(lastUserText) ?? [];
  if (word === "hold") return [say(["half ", waitFor(gateOf(rest)), "whole"])];
  if (newOutputs.length > 0) return [say("done"), usage({ input: 200, cached: 50, output: 20 })];
  if (word === "run") return [run(rest), usage({ input: 100, cached: 10, output: 5 })];
  if (word === "background") return run(rest, { yieldMs: 250 });
  if (word === "write") return [patch(`*** Begin Patch\n*** Add File: ${rest}\n+hello\n*** End Patch\n`)];
  if (word === "plan") {
    return callTool("update_plan", {
      plan: [
        { step: "look", status: "completed" },
        { step: "leap", status: "in_progress" },
      ],
    });
  }
  return [say(`received: ${lastUserText}`, { chunkSize: 4 })];
};

let stage: LaunchedCodex;

beforeAll(async () => {
  stage = await launchCodex({
    model: script,
    modelName: "gpt-5.5",
    modelRetries: 0,
    config: { tools: { update_plan: { enabled: true } } },
  });
});

afterAll(async () => {
  await stage[Symbol.asyncDispose]();
});

function startThread(more: object = {}): Promise<Thread> {
  return stage.codex.startThread({
    cwd: stage.workspace,
    sandbox: "workspace-write",
    approvalPolicy: "never",
    ...more,
  });
}

async function eventsOf(events: AsyncIterable<CodexEvent>): Promise<CodexEvent[]> {
  return Array.fromAsync(events);
}

/** Resolves to the first event of a type, without closing the stream. */
async function first<Type extends CodexEvent["type"]>(
  events: AsyncIterable<CodexEvent>,
  type: Type,
): Promise<Extract<CodexEvent, { type: Type }>> {
  for await (const event of events) {
    if (event.type === type) return event as Extract<CodexEvent, { type: Type }>;
  }
  throw new Error(`The stream ended without ${type}`);
}

describe("a turn", () => {
  it("can be awaited and iterated by two readers at once, and again after its end", async () => {
    const thread = await startThread();
    const turn = thread.run("hello there");
    const [one, two, result] = await Promise.all([eventsOf(turn), eventsOf(turn), turn]);
    expect(result).toMatchObject({
      status: "completed",
      finalResponse: "received: hello there",
      openItems: [],
    });
    expect(one.map(({ type }) => type)).toEqual(two.map(({ type }) => type));
    expect(one[0]?.type).toBe("turn.started");
    expect(one.at(-1)?.type).toBe("turn.completed");
    const late = await eventsOf(turn);
    const text = late.flatMap((event) => (event.type === "item.delta" ? [event.delta] : [])).join("");
    expect(text).toBe("received: hello there");
    expect((await turn).items).toEqual(result.items);
  });

  it("yields only the agent's messages as text", async () => {
    const thread = await startThread();
    const words = await Array.fromAsync(thread.run("some words").text());
    expect(words.join("")).toBe("received: some words");
  });

  it("counts the tokens of all its model responses, but not those of earlier turns", async () => {
    const thread = await startThread();
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
    const thread = await startThread();
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
    const thread = await startThread();
    const turn = thread.run("hold steer");
    await first(turn, "item.delta");
    await turn.steer("and this too");
    gateOf("steer").open();
    const { items, finalResponse } = await turn;
    expect(items.filter(({ type }) => type === "userMessage")).toHaveLength(2);
    expect(finalResponse).toBe("received: and this too");
    await expect(turn.steer("too late")).rejects.toMatchObject({ code: "turn_not_active" });
    await expect(thread.steer("too late")).rejects.toMatchObject({ code: "turn_not_active" });
  });

  it("keeps its partial message when it is interrupted", async () => {
    const thread = await startThread();
    const turn = thread.run("hold for-ever");
    await first(turn, "item.delta");
    await turn.interrupt();
    await expect(turn).resolves.toMatchObject({ status: "interrupted", finalResponse: "half " });
    await turn.interrupt();
    expect(thread.busy).toBe(false);
    await expect(thread.run("again")).resolves.toMatchObject({ finalResponse: "received: again" });
  });

  it("can be interrupted and aborted just before it is active", async () => {
    const thread = await startThread();
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
    const thread = await startThread();
    const controller = new AbortController();
    const turn = thread.run("hold aborted", { signal: controller.signal });
    await first(turn, "item.delta");
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
    const thread = await startThread();
    const turn = thread.run("hold reject");
    await turn.id;
    expect(thread.busy).toBe(true);
    await expect(thread.run("more")).rejects.toMatchObject({ code: "thread_busy" });
    gateOf("reject").open();
    await turn;
  });

  it("never merges two turns that are started concurrently", async () => {
    const thread = await startThread();
    const [one, two] = await Promise.allSettled(
      [thread.run("hold at-once"), thread.run("other")].map((turn) => turn.id),
    );
    gateOf("at-once").open();
    expect([one?.status, two?.status]).toEqual(["fulfilled", "rejected"]);
    await thread.run("after", { whenBusy: "wait" });
  });

  it("starts waiting turns in order", async () => {
    const thread = await startThread();
    const held = thread.run("hold wait");
    await held.id;
    const waiting = ["one", "two", "three"].map((word) => thread.run(word, { whenBusy: "wait" }));
    gateOf("wait").open();
    const ids = await Promise.all([held, ...waiting].map(async (turn) => (await turn).turnId));
    expect(ids).toEqual(ids.toSorted());
    expect((await waiting[2])?.finalResponse).toBe("received: three");
  });

  it("adds input to the running turn with whenBusy: steer", async () => {
    const thread = await startThread();
    const held = thread.run("hold join");
    await first(held, "item.delta");
    const joined = thread.run("more of it", { whenBusy: "steer" });
    expect(await joined.id).toBe(await held.id);
    gateOf("join").open();
    expect((await joined).finalResponse).toBe("received: more of it");
    expect(await held).toEqual(await joined);
  });

  it("runs input from the server's queue with whenBusy: queue", async () => {
    const thread = await startThread();
    const begun: string[] = [];
    using _listening = thread.onTurn((turn) => void turn.id.then((id) => begun.push(id)));
    const held = thread.run("hold queue");
    await first(held, "item.delta");
    const queued = thread.run("from the queue", { whenBusy: "queue" });
    gateOf("queue").open();
    const { finalResponse, turnId } = await queued;
    expect(finalResponse).toBe("received: from the queue");
    expect(begun).toEqual([await held.id, turnId]);
  });

  it("rejects settings for a queued turn, which uses those of the thread", async () => {
    const thread = await startThread();
    const held = thread.run("hold queue-settings");
    await held.id;
    const queued = thread.run("x", { whenBusy: "queue", effort: "low" });
    await expect(queued).rejects.toMatchObject({ code: "invalid_argument" });
    gateOf("queue-settings").open();
    await held;
  });
});

describe("a thread", () => {
  it("has a queue that can be edited, reordered and started", async () => {
    const thread = await startThread();
    const held = thread.run("hold editing");
    await first(held, "item.delta");
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
    const thread = await startThread();
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
    const thread = await startThread();
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
    const thread = await startThread();
    await thread.run("one");
    const two = await thread.run("two");
    await thread.revert(two.turnId);
    expect(await Array.fromAsync(thread.history.turns())).toHaveLength(1);
    expect((await thread.run("other two")).finalResponse).toBe("received: other two");
  });

  it("is named, listed, searched, read, archived, restored and deleted", async () => {
    const { codex } = stage;
    const thread = await startThread();
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
    const thread = await startThread();
    await thread.inject([
      { type: "message", role: "user", content: [{ type: "input_text", text: "injected words" }] },
    ]);
    await thread.run("and now");
    const request = await stage.model.findRequest(({ lastUserText }) => lastUserText === "and now");
    expect(JSON.stringify(request.input)).toContain("injected words");
  });

  it("has a goal that can be set, read and cleared", async () => {
    const thread = await startThread();
    await thread.run("hello");
    const goal = await thread.goal.set({ objective: "reach the top", status: "paused", tokenBudget: 1_000 });
    expect(goal).toMatchObject({ objective: "reach the top", status: "paused", tokenBudget: 1_000 });
    expect(await thread.goal.get()).toMatchObject({ objective: "reach the top" });
    await thread.goal.clear();
    expect(await thread.goal.get()).toBeNull();
  });

  it("is compacted, as a turn", async () => {
    const thread = await startThread();
    await thread.run("hello");
    const { items, status } = await thread.compact();
    expect(status).toBe("completed");
    expect(items.map(({ type }) => type)).toContain("contextCompaction");
  });

  it("reviews, as a turn", async () => {
    const thread = await startThread();
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
    const thread = await startThread();
    const review = thread.review({ type: "custom", instructions: "hold review" });
    await first(review, "turn.started");
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
    const thread = await startThread();
    const { items } = await thread.shell("echo by-hand");
    expect(items).toContainEqual(
      expect.objectContaining({
        type: "commandExecution",
        source: "userShell",
        aggregatedOutput: expect.stringContaining("by-hand") as string,
      }),
    );
    const held = thread.run("hold shell");
    await first(held, "item.delta");
    const joined = thread.shell("echo in-between");
    expect(await joined.id).toBe(await held.id);
    gateOf("shell").open();
    await held;
  });

  it("lists and terminates background commands, and reports their late end", async () => {
    const thread = await startThread({ sandbox: "danger-full-access" });
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
    const thread = await startThread();
    await thread.updateSettings({ effort: "high" });
    await thread.run("settled one");
    const settled = await stage.model.findRequest(({ lastUserText }) => lastUserText === "settled one");
    expect(settled.body).toMatchObject({ reasoning: { effort: "high" } });
    await thread.run("turned two", { effort: "low" });
    const turned = await stage.model.findRequest(({ lastUserText }) => lastUserText === "turned two");
    expect(turned.body).toMatchObject({ reasoning: { effort: "low" } });
  });

  it("gets no events after it is closed, and rejects later calls", async () => {
    const thread = await startThread();
    const events = eventsOf(thread.events());
    await thread.close();
    expect(await events).toEqual([]);
    await expect(thread.run("hello?")).rejects.toMatchObject({ code: "closed" });
  });
});

describe("bad input", () => {
  it("is refused before anything is sent", async () => {
    const { codex } = stage;
    await expect(codex.startThread({ cwd: "somewhere" })).rejects.toMatchObject({
      code: "invalid_argument",
      message: expect.stringContaining(join(process.cwd(), "somewhere")) as string,
    });
    await expect(codex.startThread({ cwd: join(stage.workspace, "missing") })).rejects.toMatchObject({
      code: "invalid_argument",
    });
    const thread = await startThread();
    await expect(thread.run("x".repeat(1_048_577))).rejects.toMatchObject({ code: "input_too_large" });
    await expect(thread.run({ image: "no-such.png" })).rejects.toMatchObject({ code: "invalid_argument" });
    expect(() => thread.run("x", { outputSchema: "not a schema" as never })).toThrow(
      expect.objectContaining({ code: "invalid_schema" }) as Error,
    );
    await expect(codex.resumeThread("no-such-thread")).rejects.toMatchObject({ code: "thread_not_found" });
  });

  it("lists the alternatives if another process has the thread", async () => {
    const thread = await startThread();
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
