import { describe, expect, it } from "vitest";
import { approvalOf, commandRequest } from "../approvals/approval.fixture.ts";
import type { Agent } from "../feed/index.ts";
import { agentName, agentStatus, agentTree } from "./agent-tree.ts";

function agent(threadId: string, parentThreadId: string | null, firstSeq: number): Agent {
  return {
    threadId,
    parentThreadId,
    firstSeq,
    name: `/root/${threadId}`,
    status: "running",
    prompt: null,
    model: null,
    message: null,
  };
}

describe("agentTree", () => {
  it("lists agents in the order of their start, below their parents", () => {
    const tree = agentTree(
      [
        agent("late", "root", 9),
        agent("child", "first", 5),
        agent("first", "root", 1),
        agent("orphan", "gone", 12),
      ],
      [],
      "root",
    );
    expect(tree.map((node) => [node.agent.threadId, node.depth])).toEqual([
      ["first", 0],
      ["child", 1],
      ["late", 0],
      ["orphan", 0],
    ]);
  });

  it("keeps agents whose parents form a cycle", () => {
    const tree = agentTree([agent("one", "two", 1), agent("two", "one", 2)], [], "root");
    expect(tree.map((node) => [node.agent.threadId, node.depth])).toEqual([
      ["one", 0],
      ["two", 1],
    ]);
  });

  it("counts the open requests of an agent, and describes the agent as waiting", () => {
    const open = approvalOf(commandRequest, { threadId: "first" });
    const [node] = agentTree(
      [agent("first", "root", 1)],
      [open, approvalOf(commandRequest, { id: "old", threadId: "first", state: "delivered" })],
      "root",
    );
    expect(node?.waiting).toEqual([open]);
    expect(node && agentStatus(node)).toBe("waits for you");
  });
});

describe("agentName", () => {
  it("is the last part of the path", () => {
    expect(agentName({ name: "/root/reviewer", threadId: "t" })).toBe("reviewer");
    expect(agentName({ name: null, threadId: "0123456789" })).toBe("01234567");
  });
});
