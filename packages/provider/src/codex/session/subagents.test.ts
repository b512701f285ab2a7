import type { Agent } from "codexkit";
import { describe, expect, it } from "vitest";
import { Subagents } from "./subagents.ts";

function agent(threadId: string, parentThreadId: string, more: Partial<Agent> = {}): Agent {
  return { threadId, parentThreadId, status: "running", agents: [], ...more };
}

function subagentsOf(agents: Agent[]): Subagents {
  return new Subagents({ id: "root", agents, settings: { model: "large" } as never });
}

describe("the subagents of a session", () => {
  const grandchild = agent("grandchild", "child", { nickname: "Nora" });
  const agents = [agent("child", "root", { role: "reviewer", model: "small", agents: [grandchild] })];

  it("are found at any depth, with their names and parents", () => {
    const subagents = subagentsOf(agents);
    expect(subagents.find("root")).toBeUndefined();
    expect(subagents.find("child")).toEqual({ id: "child", parentId: "root", name: "reviewer" });
    expect(subagents.find("grandchild")).toEqual({ id: "grandchild", parentId: "child", name: "Nora" });
  });

  it("keep the name of their first event", () => {
    const growing: Agent[] = [agent("child", "root")];
    const subagents = subagentsOf(growing);
    expect(subagents.find("child")).toEqual({ id: "child", parentId: "root" });
    growing[0] = agent("child", "root", { nickname: "Nora" });
    expect(subagents.find("child")).toEqual({ id: "child", parentId: "root" });
  });

  it("have the model of their parent unless they have their own", () => {
    const subagents = subagentsOf([...agents, agent("plain", "root")]);
    expect(["root", "plain", "child", "grandchild"].map((id) => subagents.modelOf(id))).toEqual([
      "large",
      "large",
      "small",
      "small",
    ]);
  });
});
