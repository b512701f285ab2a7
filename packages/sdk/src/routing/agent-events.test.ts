import { callTool, run, say, type ScriptFunction } from "@codexkit/scripted-model";
import { launchCodex } from "@codexkit/testing";
import { describe, expect, it } from "vitest";
import { agentStarted, message, TurnNotifications } from "../../test/notices.ts";
import type { CodexEvent } from "../events/event.ts";
import { ThreadRouter } from "./thread-router.ts";

const AGENTS = { namespace: "multi_agent_v1" };

const delegating: ScriptFunction = ({ lastUserText: prompt, newOutputs }) => {
  const [output] = newOutputs;
  if (prompt === "delegate") {
    if (!output) return callTool("spawn_agent", { message: "run echo below" }, AGENTS);
    const id = /"agent_id":"([^"]+)"/.exec(output.text)?.[1];
    return id === undefined ? say("done") : callTool("wait_agent", { targets: [id] }, AGENTS);
  }
  return prompt.startsWith("run ") && !output ? run(prompt.slice(4)) : say(`received: ${prompt}`);
};

describe("the events of a thread with its agents", () => {
  it("are those of the thread and all threads below it, and no others, on the real codex", async () => {
    await using stage = await launchCodex({ model: delegating });
    const start = { cwd: stage.workspace };
    const [thread, other] = [await stage.codex.startThread(start), await stage.codex.startThread(start)];
    const events: CodexEvent[] = [];
    const alone = thread.events();
    const all = thread.events({ agents: true });
    await other.run("unrelated");
    const turn = thread.run("delegate");
    for await (const event of all) {
      events.push(event);
      if (event.type === "turn.completed" && event.threadId === thread.id) break;
    }
    await turn;
    const [agent] = thread.agents;
    const child = agent?.threadId ?? "";
    expect(new Set(events.map(({ threadId }) => threadId))).toEqual(new Set([thread.id, child]));
    const below = events.filter(({ threadId }) => threadId === child);
    expect(below).toContainEqual(
      expect.objectContaining({
        type: "item.completed",
        item: expect.objectContaining({ type: "commandExecution", aggregatedOutput: "below\n" }) as object,
      }),
    );
    const ends = events.filter(({ type }) => type === "turn.completed").map(({ threadId }) => threadId);
    expect(ends).toEqual([child, thread.id]);
    expect(events.filter(({ type }) => type === "unknown")).toEqual([]);
    for await (const event of alone) {
      expect(event.threadId).toBe(thread.id);
      if (event.type === "turn.completed") break;
    }
    await thread.close();
    expect(await Array.fromAsync(thread.events({ agents: true }))).toEqual([]);
  });

  it("are in order even if an agent sends events before its parent names it", async () => {
    const router = new ThreadRouter();
    router.hold("root");
    router.hold("mine");
    const all = router.readWithAgents("root");
    const [child, mine, stranger] = [
      new TurnNotifications("child", "c"),
      new TurnNotifications("mine", "m"),
      new TurnNotifications("stranger", "s"),
    ];
    for (const raw of [
      child.started(),
      mine.started(),
      stranger.started(),
      child.itemStarted(message("one", "")),
      new TurnNotifications("root", "r").itemStarted(agentStarted("child")),
      child.itemCompleted(message("one", "two")),
    ]) {
      router.route(raw);
    }
    router.release("root");
    const seen = (await Array.fromAsync(all)).map(({ threadId, type }) => `${threadId} ${type}`);
    expect(seen).toEqual([
      "child turn.started",
      "child item.started",
      "root item.started",
      "child item.completed",
      "root turn.failed",
    ]);
  });
});
