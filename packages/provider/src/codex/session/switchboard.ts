import type { Agent, Codex, CodexEvent, Thread } from "codexkit";
import type { Subagent } from "../../contract/agent-event.ts";
import { LIMITS } from "../limits.ts";

/** A session, as the switchboard sees it. */
export interface Listener {
  readonly thread: Pick<Thread, "id" | "agents">;
  /** Hears every event of the session's thread, and of the threads of the agents below it. */
  hear(event: CodexEvent, author?: Subagent): void;
  /** Is told what it threw: the others are not touched by that. */
  fail(error: unknown): void;
}

interface Known {
  readonly listener: Listener;
  readonly author: Subagent;
}

/**
 * Sends what one codex says to the sessions on it. All go through one reader, so that the events of a session and of the agents
 * below it keep their order. What comes before it is known whose it is waits.
 */
export class Switchboard {
  readonly #listeners = new Map<string, Listener>();
  /** Agents' threads that are known: whose they are. */
  readonly #authors = new Map<string, Known>();
  readonly #orphans = new Map<string, CodexEvent[]>();
  /** Threads that are done with, so that the last words about them don't wait for anybody. */
  readonly #gone = new Set<string>();

  /** Reads until the codex is closed. */
  async read(codex: Pick<Codex, "events">): Promise<void> {
    for await (const event of codex.events()) this.take(event);
  }

  /** How many sessions and agents are known, and threads that wait to be. */
  get size(): number {
    return this.#listeners.size + this.#authors.size + this.#orphans.size;
  }

  take(event: CodexEvent): void {
    const { threadId } = event;
    if (threadId === undefined) return;
    this.#deliver(threadId, event);
    if (mayNameAgents(event)) this.#adoptOrphans();
  }

  /** A thread is about to be resumed: what is said about it waits for its listener. */
  expect(threadId: string): void {
    this.#gone.delete(threadId);
  }

  add(listener: Listener): void {
    this.#listeners.set(listener.thread.id, listener);
    this.#adoptOrphans();
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener.thread.id);
    this.forget(listener.thread.id);
    for (const [threadId, known] of this.#authors) {
      if (known.listener !== listener) continue;
      this.#authors.delete(threadId);
      this.forget(threadId);
    }
  }

  /** Nobody will ask for this thread any more. */
  forget(threadId: string): void {
    this.#orphans.delete(threadId);
    this.#gone.add(threadId);
    const [oldest] = this.#gone;
    if (this.#gone.size > LIMITS.goneThreads && oldest !== undefined) this.#gone.delete(oldest);
  }

  #deliver(threadId: string, event: CodexEvent): void {
    const listener = this.#listeners.get(threadId);
    const known = listener ? { listener } : (this.#authors.get(threadId) ?? this.#findAuthor(threadId));
    if (known) tell(known, event);
    else this.#keep(threadId, event);
  }

  #findAuthor(threadId: string): Known | undefined {
    for (const listener of this.#listeners.values()) {
      const agent = findAgent(listener.thread.agents, threadId);
      if (!agent) continue;
      const name = agent.nickname ?? agent.role ?? agent.path;
      const author = {
        id: threadId,
        parentId: agent.parentThreadId,
        ...(name === undefined ? {} : { name }),
      };
      this.#authors.set(threadId, { listener, author });
      return { listener, author };
    }
    return undefined;
  }

  #keep(threadId: string, event: CodexEvent): void {
    if (this.#gone.has(threadId)) return;
    const events = this.#orphans.get(threadId) ?? [];
    this.#orphans.set(threadId, events);
    if (events.length < LIMITS.orphanEvents) events.push(event);
    const [oldest] = this.#orphans.keys();
    if (this.#orphans.size > LIMITS.orphanThreads && oldest !== undefined) this.#orphans.delete(oldest);
  }

  #adoptOrphans(): void {
    for (const [threadId, events] of this.#orphans) {
      if (!this.#listeners.has(threadId) && !this.#findAuthor(threadId)) continue;
      this.#orphans.delete(threadId);
      for (const event of events) this.#deliver(threadId, event);
    }
  }
}

function tell({ listener, author }: Pick<Known, "listener"> & Partial<Known>, event: CodexEvent): void {
  try {
    listener.hear(event, author);
  } catch (error) {
    listener.fail(error);
  }
}

function mayNameAgents(event: CodexEvent): boolean {
  if (event.type === "thread.started") return true;
  if (event.type !== "item.started" && event.type !== "item.completed") return false;
  return event.item.type === "collabAgentToolCall" || event.item.type === "subAgentActivity";
}

/** Finds an agent by its thread, at any depth. */
export function findAgent(agents: readonly Agent[], threadId: string): Agent | undefined {
  for (const agent of agents) {
    const found = agent.threadId === threadId ? agent : findAgent(agent.agents, threadId);
    if (found) return found;
  }
  return undefined;
}
