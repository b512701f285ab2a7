import type { Agent, CodexEvent, v2 } from "codexkit";
import { describe, expect, it } from "vitest";
import type { Subagent } from "../../contract/agent-event.ts";
import { LIMITS } from "../limits.ts";
import { type Listener, Switchboard } from "./switchboard.ts";

function turn(threadId: string): CodexEvent {
  return { type: "turn.started", threadId, turnId: "t" };
}

function spawned(by: string): CodexEvent {
  const item = { type: "collabAgentToolCall", id: "i" } as unknown as v2.ThreadItem;
  return { type: "item.completed", threadId: by, turnId: "t", item };
}

class Session implements Listener {
  readonly heard: [type: string, author: Subagent | undefined][] = [];
  readonly failures: unknown[] = [];
  readonly thread: { id: string; agents: Agent[] };

  constructor(id: string) {
    this.thread = { id, agents: [] };
  }

  hear({ type }: CodexEvent, author?: Subagent): void {
    if (type === "warning") throw new Error("I can't hear this");
    this.heard.push([type, author]);
  }

  fail(error: unknown): void {
    this.failures.push(error);
  }
}

function agent(threadId: string, parentThreadId: string, agents: Agent[] = []): Agent {
  return { threadId, parentThreadId, nickname: `agent ${threadId}`, status: "running", agents };
}

describe("a switchboard", () => {
  it("keeps sessions apart", () => {
    const board = new Switchboard();
    const [a, b] = [new Session("a"), new Session("b")];
    board.add(a);
    board.add(b);
    board.take(turn("a"));
    board.take({ type: "unknown", raw: { method: "account/updated" } });
    expect([a.heard.length, b.heard.length]).toEqual([1, 0]);
  });

  it("gives what agents do to the session above them, with their name and their parent", () => {
    const board = new Switchboard();
    const session = new Session("a");
    board.add(session);
    session.thread.agents.push(agent("child", "a", [agent("grandchild", "child")]));
    board.take(turn("grandchild"));
    expect(session.heard).toEqual([
      ["turn.started", { id: "grandchild", parentId: "child", name: "agent grandchild" }],
    ]);
  });

  it("keeps what a thread says before it is known whose it is", () => {
    const board = new Switchboard();
    const session = new Session("a");
    board.take(turn("a"));
    board.add(session);
    board.take(turn("child"));
    expect(session.heard).toHaveLength(1);
    session.thread.agents.push(agent("child", "a"));
    board.take(spawned("a"));
    expect(session.heard.map(([type]) => type)).toEqual(["turn.started", "item.completed", "turn.started"]);
  });

  it("keeps nothing of a session that is gone, unless it is expected again", () => {
    const board = new Switchboard();
    const session = new Session("a");
    board.add(session);
    session.thread.agents.push(agent("child", "a"));
    board.take(turn("child"));
    board.remove(session);
    board.take(turn("a"));
    board.take(turn("child"));
    expect(board.size).toBe(0);
    board.expect("a");
    board.take(turn("a"));
    const again = new Session("a");
    board.add(again);
    expect(again.heard).toHaveLength(1);
  });

  it("tells a session what it threw, and goes on with the others", () => {
    const board = new Switchboard();
    const [a, b] = [new Session("a"), new Session("b")];
    board.add(a);
    board.add(b);
    board.take({ type: "warning", kind: "server", message: "", threadId: "a" });
    board.take(turn("b"));
    expect([a.failures.length, b.heard.length]).toEqual([1, 1]);
  });

  it("bounds what waits", () => {
    const board = new Switchboard();
    for (let thread = 0; thread < LIMITS.orphanThreads * 3; thread += 1) {
      for (let event = 0; event < LIMITS.orphanEvents + 10; event += 1) board.take(turn(`t${thread}`));
    }
    expect(board.size).toBe(LIMITS.orphanThreads);
    const last = new Session(`t${LIMITS.orphanThreads * 3 - 1}`);
    board.add(last);
    expect(last.heard).toHaveLength(LIMITS.orphanEvents);
  });
});
