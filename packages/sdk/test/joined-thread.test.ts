import { gate, say, type ScriptFunction, waitFor } from "@codexkit/scripted-model";
import { codexFolders, launchCodex } from "@codexkit/testing";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Codex } from "../src/codex.ts";
import type { Turn } from "../src/turn/turn.ts";
import type { TurnResult } from "../src/events/turn-result.ts";
import type { WhenBusy } from "../src/thread/run-options.ts";
import type { Thread } from "../src/thread/thread.ts";

async function untilSpeaking(turn: Turn): Promise<void> {
  for await (const event of turn) if (event.type === "item.delta") return;
}

async function untilQueued(thread: Thread, count: number): Promise<void> {
  for await (const event of thread.events()) {
    if (event.type !== "notice" || event.raw.method !== "thread/queue/changed") continue;
    if ((await thread.queue.list()).length === count) return;
  }
}

/** The user's messages of each turn, oldest turn first. */
async function messages(thread: Thread): Promise<string[][]> {
  const turns = await Array.fromAsync(thread.history.turns({ itemsView: "full", sortDirection: "asc" }));
  return turns.map(({ items }) => texts(items));
}

function texts(items: TurnResult["items"]): string[] {
  return items.flatMap((item) =>
    item.type === "userMessage"
      ? item.content.flatMap((part) => (part.type === "text" ? [part.text] : []))
      : [],
  );
}

/** Two clients of one codex. The second joins while a turn of the first is running. */
async function joined(): Promise<
  { thread: Thread; held: Turn; own: Thread; finish: () => void } & AsyncDisposable
> {
  const open = gate();
  const script: ScriptFunction = ({ lastUserText }) =>
    lastUserText === "hold" ? say(["half ", waitFor(open), "whole"]) : say(`received: ${lastUserText}`);
  const stack = new AsyncDisposableStack();
  const folders = stack.use(await codexFolders({ model: script }));
  const url = `unix://${join(folders.root, "s.sock")}`;
  const first = stack.use(await Codex.launch({ env: folders.env, inheritEnv: false, listen: url }));
  const own = await first.startThread({ cwd: folders.workspace });
  const held = own.run("hold");
  await untilSpeaking(held);
  const second = stack.use(await Codex.connect(url));
  const thread = await second.resumeThread(own.id);
  return {
    thread,
    held,
    own,
    finish: () => open.open(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

describe("a thread that is joined while a turn is running", () => {
  it("is busy, and rejects another turn", async () => {
    await using stage = await joined();
    expect(stage.thread.busy).toBe(true);
    await expect(stage.thread.run("mine")).rejects.toMatchObject({ code: "thread_busy" });
    stage.finish();
    await stage.held;
    expect(await messages(stage.thread)).toEqual([["hold"]]);
  });

  it.each<WhenBusy>(["wait", "queue"])("runs the input of %s in its own turn", async (whenBusy) => {
    await using stage = await joined();
    const queued = untilQueued(stage.own, 1);
    const mine = stage.thread.run("mine", { whenBusy });
    if (whenBusy === "queue") await queued;
    stage.finish();
    expect(await mine).toMatchObject({ finalResponse: "received: mine" });
    expect((await stage.held).finalResponse).toBe("half whole");
    expect(await messages(stage.thread)).toEqual([["hold"], ["mine"]]);
  });

  it("adds the input of steer to the turn, whose result includes earlier items", async () => {
    await using stage = await joined();
    const mine = stage.thread.run("mine", { whenBusy: "steer" });
    expect(await mine.id).toBe(await stage.held.id);
    stage.finish();
    expect(texts((await mine).items)).toEqual(["hold", "mine"]);
  });

  it("interrupts the turn", async () => {
    await using stage = await joined();
    await stage.thread.interrupt();
    expect((await stage.held).status).toBe("interrupted");
  });
});

describe("a thread whose codex died with input in its queue", () => {
  async function crashed(): Promise<{ thread: Thread; restart: () => void; codex: Codex } & AsyncDisposable> {
    const open = gate();
    let isFirst = true;
    const stage = await launchCodex({
      model: ({ lastUserText }) => {
        if (lastUserText !== "hold") return say(["received: ", waitFor(open), lastUserText]);
        return isFirst ? say(["half ", waitFor(gate())]) : say("again");
      },
    });
    const thread = await stage.codex.startThread({ cwd: stage.workspace });
    const held = thread.run("hold");
    await untilSpeaking(held);
    isFirst = false;
    const both = untilQueued(thread, 2);
    const queued = ["one", "two"].map((text) => thread.run(text, { whenBusy: "queue" }));
    await both;
    process.kill(stage.codex.pid ?? 0, "SIGKILL");
    await Promise.allSettled([held, ...queued]);
    return {
      thread,
      codex: stage.codex,
      restart: () => open.open(),
      [Symbol.asyncDispose]: () => stage[Symbol.asyncDispose](),
    };
  }

  it("is busy with the queued input, and rejects another turn", async () => {
    await using stage = await crashed();
    await expect(stage.thread.run("after")).rejects.toMatchObject({ code: "thread_busy" });
    stage.restart();
  });

  it("starts the next run in its own turn afterwards", async () => {
    await using stage = await crashed();
    const after = stage.thread.run("after", { whenBusy: "wait" });
    stage.restart();
    expect(texts((await after).items)).toEqual(["after"]);
    expect(await messages(stage.thread)).toEqual([["hold"], ["one"], ["two"], ["after"]]);
  });
});
