import { say } from "@codexkit/scripted-model";
import { type FakeAction, fakeAppServerCommand, launchCodex, notify } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { agentStarted, message, TurnNotifications } from "../../test/notices.ts";
import { Codex } from "../codex.ts";
import type { CodexEvent } from "../events/event.ts";
import { ThreadRouter } from "./thread-router.ts";

function summarize(events: readonly CodexEvent[]): string[] {
  return events.map(({ threadId, type }) => `${threadId} ${type}`);
}

describe("buffered events", () => {
  it("contain everything about a thread since it was opened, for the first reader only", async () => {
    const router = new ThreadRouter();
    router.hold("mine");
    const [turn, child, mine] = [
      new TurnNotifications("new", "n"),
      new TurnNotifications("child", "c"),
      new TurnNotifications("mine", "m"),
    ];
    await router.buffered(() => {
      for (const raw of [mine.started(), child.started(), turn.started()]) router.route(raw);
      router.hold("new");
      return Promise.resolve({ id: "new" });
    });
    router.route(mine.itemStarted(message("one", "")));
    router.route(turn.itemStarted(agentStarted("child")));
    const [all, later] = [router.readWithAgents("new"), router.readWithAgents("new")];
    router.release("new");
    const ended = "new turn.failed";
    expect(summarize(await Array.fromAsync(all))).toEqual([
      "child turn.started",
      "new turn.started",
      "new item.started",
      ended,
    ]);
    expect(summarize(await Array.fromAsync(later))).toEqual([ended]);
  });

  it("exclude those of agents for a reader of only the thread", async () => {
    const router = new ThreadRouter();
    await router.buffered(() => {
      router.route(new TurnNotifications("child", "c").started());
      router.route(new TurnNotifications("new", "n").started());
      router.hold("new");
      return Promise.resolve({ id: "new" });
    });
    const events = router.read(router.hold("new"));
    router.release("new");
    expect(summarize(await Array.fromAsync(events))).toEqual(["new turn.started", "new turn.failed"]);
  });

  it("are dropped if the thread can't be opened", async () => {
    const router = new ThreadRouter();
    const opening = router.buffered(async () => {
      router.route(new TurnNotifications("new", "n").started());
      await Promise.reject(new Error("refused"));
      return { id: "new" };
    });
    await expect(opening).rejects.toThrow("refused");
    const events = router.read(router.hold("new"));
    router.release("new");
    expect(summarize(await Array.fromAsync(events))).toEqual(["new turn.failed"]);
  });
});

describe("thread.events() of a thread that was opened with bufferEvents", () => {
  it("includes what arrived before and together with the response", async () => {
    const warn = (text: string): FakeAction => notify("warning", { threadId: "thread-1", message: text });
    const thread = { id: "thread-1", turns: [], status: { type: "idle" } };
    const reply = { do: "reply", result: { thread, model: "fake", cwd: "/" } } as const;
    const { command, args } = fakeAppServerCommand({
      on: { "thread/start": [warn("before"), reply, warn("after")] },
    });
    await using codex = await Codex.launch({ codexPath: command, wrapperArgs: args });
    const opened = await codex.startThread({ bufferEvents: true });
    // Everything that the server had sent is received before the response to a later call.
    await codex.request("thread/loaded/list", {});
    const events = opened.events();
    await opened.close();
    const messages = (await Array.fromAsync(events)).map((event) => (event as { message?: string }).message);
    expect(messages).toEqual(["before", "after"]);
  });

  it("includes the start of the thread and its MCP servers, on the real codex", async () => {
    await using test = await launchCodex({ model: [say("hello")] });
    const thread = await test.codex.startThread({
      cwd: test.workspace,
      mcpServers: { gone: { command: "/nowhere/server" } },
      bufferEvents: true,
    });
    await thread.run("hi");
    const events = thread.events({ agents: true });
    await thread.close();
    const types = (await Array.fromAsync(events)).map((event) =>
      event.type === "notice" ? event.raw.method : event.type,
    );
    expect(types).toEqual(
      expect.arrayContaining(["thread.started", "mcpServer/startupStatus/updated", "turn.completed"]),
    );
  });
});
