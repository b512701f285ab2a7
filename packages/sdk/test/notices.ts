import type { v2 } from "@codexkit/protocol";
import type { RawMessage } from "../src/events/event.ts";
import type { TokenUsage } from "../src/events/turn-result.ts";

// Minimal notifications of an app-server. Tests choose the IDs.

export function message(id: string, text: string, phase: string | null = null): v2.ThreadItem {
  return {
    type: "agentMessage",
    id,
    text,
    phase,
    memoryCitation: null,
    delivery: null,
    questions: null,
  } as v2.ThreadItem;
}

export function command(id: string, aggregatedOutput: string | null = null): v2.ThreadItem {
  return { type: "commandExecution", id, command: "make", aggregatedOutput } as v2.ThreadItem;
}

export function userMessage(id: string, clientId: string | null): v2.ThreadItem {
  return { type: "userMessage", id, clientId, content: [] };
}

/** The item by which a thread reports that it started an agent. */
export function agentStarted(agentThreadId: string): v2.ThreadItem {
  return {
    type: "subAgentActivity",
    id: `start-${agentThreadId}`,
    kind: "started",
    agentThreadId,
    agentPath: `/root/${agentThreadId}`,
  } as v2.ThreadItem;
}

export function tokens(totalTokens: number): TokenUsage {
  return {
    totalTokens,
    inputTokens: totalTokens,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 0,
    reasoningOutputTokens: 0,
  };
}

/** Notifications of one turn. */
export class TurnNotifications {
  readonly threadId: string;
  readonly turnId: string;

  constructor(threadId: string, turnId: string) {
    this.threadId = threadId;
    this.turnId = turnId;
  }

  started(): RawMessage {
    return this.#notification("turn/started", { turn: this.turn("inProgress") });
  }

  itemStarted(item: v2.ThreadItem): RawMessage {
    return this.#notification("item/started", { item });
  }

  itemCompleted(item: v2.ThreadItem): RawMessage {
    return this.#notification("item/completed", { item });
  }

  delta(itemId: string, delta: string): RawMessage {
    return this.#notification("item/agentMessage/delta", { itemId, delta });
  }

  output(itemId: string, delta: string): RawMessage {
    return this.#notification("item/commandExecution/outputDelta", { itemId, delta });
  }

  usage(total: number, last: number): RawMessage {
    const tokenUsage = { total: tokens(total), last: tokens(last), modelContextWindow: null };
    return this.#notification("thread/tokenUsage/updated", { tokenUsage });
  }

  completed(more: Partial<v2.Turn> = {}): RawMessage {
    return this.#notification("turn/completed", { turn: this.turn("completed", more) });
  }

  turn(status: v2.TurnStatus, more: Partial<v2.Turn> = {}): v2.Turn {
    return {
      id: this.turnId,
      rootTurnId: null,
      items: [],
      itemsView: "summary",
      status,
      error: null,
      startedAt: null,
      completedAt: null,
      durationMs: null,
      ...more,
    };
  }

  #notification(method: string, params: object): RawMessage {
    return { method, params: { threadId: this.threadId, turnId: this.turnId, ...params } };
  }
}
