import type { v2 } from "@codexkit/protocol";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CodexEvent } from "../events/event.ts";
import { type Agent, AgentTree } from "./agent-tree.ts";

function started(id: string, parentThreadId: string | null, more: Partial<v2.Thread> = {}): CodexEvent {
  const thread = { id, parentThreadId, agentNickname: null, agentRole: null, ...more } as v2.Thread;
  return { type: "thread.started", threadId: id, thread };
}

function shows(threadId: string, item: object): CodexEvent {
  return { type: "item.completed", threadId, turnId: "turn", item: { id: "item", ...item } as v2.ThreadItem };
}

function activity(threadId: string, agentThreadId: string, more: object = {}): CodexEvent {
  const item = {
    type: "subAgentActivity",
    kind: "started",
    agentThreadId,
    agentPath: `/root/${agentThreadId}`,
    model: null,
  };
  return shows(threadId, { ...item, ...more });
}

function calls(
  tool: string,
  senderThreadId: string,
  receiverThreadIds: string[],
  more: object = {},
): CodexEvent {
  const item = {
    type: "collabAgentToolCall",
    tool,
    senderThreadId,
    receiverThreadIds,
    prompt: null,
    model: null,
    agentsStates: {},
  };
  return shows(senderThreadId, { ...item, ...more });
}

function treeOf(...events: CodexEvent[]): AgentTree {
  const tree = new AgentTree();
  for (const event of events) tree.observe(event);
  return tree;
}

/** The tree as text: `b(c d)`. */
function shape(agents: readonly Agent[]): string {
  const parts = agents.map(({ threadId, agents: below }) =>
    below.length > 0 ? `${threadId}(${shape(below)})` : threadId,
  );
  return parts.toSorted().join(" ");
}

describe("AgentTree", () => {
  it("learns agents from the calls that spawned them", () => {
    const tree = treeOf(
      calls("spawnAgent", "a", []),
      calls("spawnAgent", "a", ["b"], {
        prompt: "look",
        model: "small",
        agentsStates: { b: { status: "running", message: null } },
      }),
      calls("spawnAgent", "b", ["c"]),
    );
    expect(tree.below("a")).toEqual([
      {
        threadId: "b",
        parentThreadId: "a",
        status: "running",
        prompt: "look",
        model: "small",
        agents: [{ threadId: "c", parentThreadId: "b", status: "started", agents: [] }],
      },
    ]);
    expect(tree.parentOf("c")).toBe("b");
    expect(tree.parentOf("a")).toBeUndefined();
  });

  it("learns agents from their activity", () => {
    const tree = treeOf(activity("a", "b", { model: "small" }), activity("a", "b", { kind: "completed" }));
    expect(tree.below("a")).toEqual([
      {
        threadId: "b",
        parentThreadId: "a",
        path: "/root/b",
        status: "completed",
        model: "small",
        agents: [],
      },
    ]);
  });

  it("learns agents from their threads", () => {
    const tree = treeOf(
      started("a", null),
      started("b", "a", { agentNickname: "Bee", agentRole: "reviewer" }),
    );
    expect(tree.below("a")).toMatchObject([
      { threadId: "b", nickname: "Bee", role: "reviewer", status: "started" },
    ]);
  });

  it("does not infer a parent from calls between agents", () => {
    const states = { c: { status: "completed", message: "done" } };
    const tree = treeOf(
      calls("spawnAgent", "a", ["b", "c"]),
      calls("wait", "b", ["c"], { agentsStates: states }),
    );
    expect(shape(tree.below("a"))).toBe("b c");
    expect(tree.below("a")[1]).toMatchObject({ threadId: "c", status: "completed" });
    expect(treeOf(calls("sendInput", "a", ["stranger"])).below("a")).toEqual([]);
  });

  it("prefers the spawning thread to the thread that mentioned the agent first", () => {
    const grandparentFirst = [activity("a", "b"), activity("a", "c"), calls("spawnAgent", "b", ["c"])];
    expect(shape(treeOf(...grandparentFirst).below("a"))).toBe("b(c)");
    expect(shape(treeOf(activity("a", "b"), activity("a", "c"), started("c", "b")).below("a"))).toBe("b(c)");
    expect(treeOf(...grandparentFirst).below("b")[0]?.path).toBe("/root/c");
  });

  it("never contains a cycle, whichever agents address each other", () => {
    expect(
      shape(treeOf(calls("spawnAgent", "a", ["b"]), activity("b", "a", { kind: "interacted" })).below("a")),
    ).toBe("b");
    expect(treeOf(calls("spawnAgent", "a", ["a"])).below("a")).toEqual([]);
    const guessFirst = treeOf(activity("c", "b", { kind: "interacted" }), calls("spawnAgent", "b", ["c"]));
    expect(shape(guessFirst.below("b"))).toBe("c");
    const liar = treeOf(
      calls("spawnAgent", "a", ["b"]),
      calls("spawnAgent", "b", ["c"]),
      calls("spawnAgent", "c", ["a"]),
    );
    expect(shape(liar.below("a"))).toBe("b(c)");
  });

  it("stays a tree after any events", () => {
    const ids = fc.constantFrom("a", "b", "c", "d", "e");
    const events = fc.oneof(
      fc.tuple(ids, ids).map(([id, parent]) => started(id, parent)),
      fc
        .tuple(ids, ids, fc.constantFrom("started", "interacted"))
        .map(([by, of, kind]) => activity(by, of, { kind })),
      fc
        .tuple(fc.constantFrom("spawnAgent", "wait"), ids, fc.array(ids, { maxLength: 2 }))
        .map(([tool, by, of]) => calls(tool, by, of)),
    );
    fc.assert(
      fc.property(fc.array(events, { maxLength: 25 }), (received) => {
        const tree = treeOf(...received);
        for (const id of ["a", "b", "c", "d", "e"]) {
          for (const agent of tree.below(id)) expect(tree.parentOf(agent.threadId)).toBe(id);
          let above: string | undefined = id;
          for (let steps = 0; above !== undefined; steps += 1) {
            expect(steps).toBeLessThan(6);
            above = tree.parentOf(above);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is the same for any order in which the server names parents", () => {
    const parents = { b: "a", c: "a", d: "b", e: "d", f: "d" };
    const named = Object.entries(parents).flatMap(([child, parent]) => [
      fc.constantFrom(started(child, parent), calls("spawnAgent", parent, [child])),
      // An activity is also reported to the threads above the parent.
      fc.constantFrom(parent, "a").map((by) => activity(by, child)),
    ]);
    fc.assert(
      fc.property(
        fc.tuple(...named).chain((events) => fc.shuffledSubarray(events, { minLength: events.length })),
        (received) => {
          expect(shape(treeOf(...received).below("a"))).toBe("b(d(e f)) c");
        },
      ),
    );
  });

  it("forgets the agents below a thread, however deep, and no others", () => {
    const tree = treeOf(
      calls("spawnAgent", "a", ["b"]),
      calls("spawnAgent", "b", ["c"]),
      calls("spawnAgent", "x", ["y"]),
    );
    tree.forget("a");
    expect(tree.below("a")).toEqual([]);
    expect(tree.below("b")).toEqual([]);
    expect(tree.parentOf("c")).toBeUndefined();
    expect(shape(tree.below("x"))).toBe("y");
    tree.observe(calls("spawnAgent", "a", ["c"]));
    expect(shape(tree.below("a"))).toBe("c");
  });

  it("keeps a bounded number of agents, the newest, in linear time", () => {
    const tree = new AgentTree();
    for (let number = 0; number < 50_000; number += 1) tree.observe(started(`agent ${number}`, "root"));
    const agents = tree.below("root");
    expect(agents.length).toBeGreaterThan(8_999);
    expect(agents.length).toBeLessThan(10_001);
    expect(agents.at(-1)?.threadId).toBe("agent 49999");
    tree.forget("root");
    for (let number = 1; number < 2_000; number += 1)
      tree.observe(started(`deep ${number}`, `deep ${number - 1}`));
    tree.forget("deep 0");
    expect(tree.parentOf("deep 1999")).toBeUndefined();
  });
});
