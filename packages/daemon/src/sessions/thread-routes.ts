import type { CodexEvent } from "codexkit";
import { BoundedMap } from "@codexkit/rpc/async";
import type { AppServer } from "../codex/app-server.ts";

/** Receives the events of a session's threads. */
export interface ThreadListener {
  onEvent(event: CodexEvent, server: AppServer): void;
}

const LIMITS = {
  /** Maximum number of threads with events that arrived before the thread's session was known. */
  unclaimedThreads: 256,
  unclaimedEvents: 64,
} as const;

const IGNORED: ThreadListener = { onEvent: () => {} };

/** Routes events to sessions by thread. The threads of agents belong to the session of their root. */
export class ThreadRoutes {
  readonly #routes = new Map<string, ThreadListener>();
  /** Early events by thread. A thread's first events may arrive before the response with its ID. */
  readonly #unclaimed = new BoundedMap<string, { event: CodexEvent; server: AppServer }[]>(
    LIMITS.unclaimedThreads,
  );

  add(threadId: string, listener: ThreadListener): void {
    this.#routes.set(threadId, listener);
    const early = this.#unclaimed.get(threadId);
    if (!early) return;
    this.#unclaimed.delete(threadId);
    for (const { event, server } of early) this.deliver(event, server);
  }

  /** Removes all threads of a session. */
  remove(listener: ThreadListener): void {
    for (const [threadId, owner] of this.#routes) if (owner === listener) this.#routes.delete(threadId);
  }

  /** Ignores further events of all threads of a session, until they are added again. */
  ignore(listener: ThreadListener): void {
    for (const [threadId, owner] of this.#routes) if (owner === listener) this.#routes.set(threadId, IGNORED);
  }

  deliver(event: CodexEvent, server: AppServer): void {
    const { threadId } = event;
    // Notices about the account and the like belong to no session.
    if (threadId === undefined) return;
    if (event.type === "thread.started") this.#adopt(threadId, event.thread.parentThreadId);
    else if (event.type === "item.started" || event.type === "item.completed") this.#adoptAgents(event);
    const listener = this.#routes.get(threadId);
    if (listener) {
      listener.onEvent(event, server);
      return;
    }
    const early = this.#unclaimed.get(threadId) ?? [];
    if (early.length < LIMITS.unclaimedEvents) early.push({ event, server });
    this.#unclaimed.set(threadId, early);
  }

  #adopt(threadId: string, parentThreadId: string | null): void {
    const parent = parentThreadId === null ? undefined : this.#routes.get(parentThreadId);
    // An agent of a parked session is ignored until an agent above it, which was added again, uses it.
    const known = this.#routes.get(threadId) ?? IGNORED;
    if (parent && known === IGNORED) this.add(threadId, parent);
  }

  /** After a reconnect, the start of an agent is not reported again, but its parent's items name it. */
  #adoptAgents({ threadId, item }: Extract<CodexEvent, { type: "item.started" | "item.completed" }>): void {
    if (item.type === "subAgentActivity") this.#adopt(item.agentThreadId, threadId);
    else if (item.type === "collabAgentToolCall") {
      for (const child of item.receiverThreadIds) this.#adopt(child, threadId);
    }
  }
}
