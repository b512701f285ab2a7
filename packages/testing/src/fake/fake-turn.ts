import type { FakeAction } from "./behaviour.ts";

/** Sends a notification, or several equal ones. */
export function notify(method: string, params: object, times = 1): FakeAction {
  return { do: "notify", method, params, times };
}

/** Creates a fake app-server's messages about one turn, by default the first turn of its first thread. */
export class FakeTurn {
  readonly threadId: string;
  readonly turnId: string;

  constructor(threadId = "thread-1", turnId = "turn-1") {
    this.threadId = threadId;
    this.turnId = turnId;
  }

  /** The response to `turn/start`. */
  get reply(): FakeAction {
    return { do: "reply", result: { turn: this.turn() } };
  }

  get started(): FakeAction {
    return notify("turn/started", { threadId: this.threadId, turn: this.turn() });
  }

  get completed(): FakeAction {
    return notify("turn/completed", { threadId: this.threadId, turn: this.turn("completed") });
  }

  turn(status: "inProgress" | "completed" = "inProgress"): object {
    const durationMs = status === "completed" ? 5 : null;
    return { id: this.turnId, items: [], itemsView: "notLoaded", status, error: null, durationMs };
  }

  /** Notifications for an item that starts and completes. */
  item(item: object, startedItem = item): FakeAction[] {
    return [
      this.notify("item/started", { item: startedItem, startedAtMs: 1 }),
      this.notify("item/completed", { item, completedAtMs: 2 }),
    ];
  }

  /** Notifications for a message: start, a single delta, completion. */
  message(id: string, text: string): [start: FakeAction, delta: FakeAction, completion: FakeAction] {
    const item = {
      type: "agentMessage",
      id,
      phase: null,
      memoryCitation: null,
      delivery: null,
      questions: null,
    };
    return [
      this.notify("item/started", { item: { ...item, text: "" }, startedAtMs: 1 }),
      this.notify("item/agentMessage/delta", { itemId: id, delta: text }),
      this.notify("item/completed", { item: { ...item, text }, completedAtMs: 2 }),
    ];
  }

  /** Notifications for the tool call with which this turn's agent starts another agent. */
  spawnAgent(childThreadId: string): FakeAction[] {
    return this.item({
      type: "collabAgentToolCall",
      id: "spawn",
      tool: "spawnAgent",
      status: "completed",
      senderThreadId: this.threadId,
      receiverThreadIds: [childThreadId],
      prompt: "look around",
      model: null,
      reasoningEffort: null,
      agentsStates: { [childThreadId]: { status: "running", message: null } },
    });
  }

  /** Any other notification about this turn. */
  notify(method: string, params: object, times = 1): FakeAction {
    return notify(method, { threadId: this.threadId, turnId: this.turnId, ...params }, times);
  }
}
