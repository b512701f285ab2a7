import type { Codex, CodexEvent, v2 } from "codexkit";
import { BoundedMap, raceAbort } from "@codexkit/rpc/async";
import type { DaemonTransaction } from "../database/ownership.ts";
import type { RolloutStore } from "../rollouts/rollout-store.ts";
import type { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionState } from "./session-state.ts";

export const AGENT_LIMITS = {
  /** Maximum number of agents of a session whose files are stored. A restore of the session writes all of them. */
  stored: 256,
  /** Maximum number of attempts to find an agent's file by its events. */
  attempts: 20,
  /** Number of agents whose attempts are remembered. */
  searched: 1_024,
} as const;

type Outcome = "followed" | "not_found" | "refused";

type AgentThread = Pick<v2.Thread, "id" | "path" | "parentThreadId" | "ephemeral">;

/** The calls of Codex that find the files of agents. */
export type AgentSource = Pick<Codex, "readThread" | "listThreads">;

export interface AgentRolloutsDeps {
  readonly state: Pick<SessionState, "sessionId" | "threadId">;
  readonly rollouts: RolloutShipper;
  readonly store: Pick<RolloutStore, "lineage">;
  /** Receives a step that stores the first lines of a file. */
  readonly onLines: (step: (trx: DaemonTransaction) => Promise<void>) => void;
  readonly onWarning: (error: unknown, message: string) => void;
}

/**
 * Finds the rollout files of a session's agents, so that they are stored with the events of the agents. Codex reports neither the
 * start of an agent's thread nor its path, so the path is read at the agent's first event. If that fails, it is tried again at a
 * later event: an agent without a stored file only loses its history if the session moves. The same applies to an agent whose node
 * is lost before its first event.
 */
export class AgentRollouts {
  readonly #deps: AgentRolloutsDeps;
  /** Number of failed attempts, by thread ID. */
  readonly #attempts = new BoundedMap<string, number>(AGENT_LIMITS.searched);
  /** Running searches, by thread ID. */
  readonly #searches = new Map<string, Promise<void>>();
  /** IDs of the agents whose files are stored or followed. Undefined until they were read from the store. */
  #stored: Promise<Set<string>> | undefined;
  #hasWarned = false;

  constructor(deps: AgentRolloutsDeps) {
    this.#deps = deps;
  }

  /** Receives an event of the session's threads. Never waits, and never throws. */
  observe({ type, threadId }: CodexEvent, codex: AgentSource): void {
    const { state, rollouts } = this.#deps;
    if (threadId === undefined || threadId === state.threadId || rollouts.isFollowing(threadId)) return;
    const attempts = this.#attempts.get(threadId) ?? 0;
    if (this.#searches.has(threadId) || attempts >= AGENT_LIMITS.attempts) return;
    // A message may have thousands of deltas.
    if (attempts > 0 && type === "item.delta") return;
    const search = this.#search(threadId, codex, attempts).finally(() => this.#searches.delete(threadId));
    this.#searches.set(threadId, search);
  }

  /**
   * Follows the files of all agents that Codex knows, such as those that were started before the daemon was restarted. Never
   * rejects.
   */
  async followAll(codex: AgentSource, rootThreadId: string): Promise<void> {
    const { rollouts, onWarning } = this.#deps;
    try {
      await Promise.all(this.#searches.values());
      let count = 0;
      const agents = codex.listThreads({
        ancestorThreadId: rootThreadId,
        modelProviders: [],
        // The relations of threads are only in the database. Otherwise, Codex also reads the files of other threads.
        useStateDbOnly: true,
      });
      for await (const agent of agents) {
        count += 1;
        if (!rollouts.isFollowing(agent.id)) await this.#follow(agent);
        if (count === AGENT_LIMITS.stored) break;
      }
    } catch (error) {
      onWarning(error, "The agents of the session could not be listed");
    }
  }

  /** Resolves when the running searches have ended, or after the timeout. */
  async settled(timeoutMs: number): Promise<void> {
    if (this.#searches.size === 0) return;
    await raceAbort(Promise.all(this.#searches.values()), AbortSignal.timeout(timeoutMs)).catch(() => {});
  }

  async #search(threadId: string, codex: AgentSource, attempts: number): Promise<void> {
    let outcome: Outcome = "not_found";
    try {
      outcome = await this.#follow(await codex.readThread(threadId));
    } catch {
      // The thread may not be readable yet.
    }
    if (outcome === "followed") this.#attempts.delete(threadId);
    else this.#attempts.set(threadId, outcome === "refused" ? AGENT_LIMITS.attempts : attempts + 1);
  }

  async #follow({ id, path, parentThreadId, ephemeral }: AgentThread): Promise<Outcome> {
    const { rollouts, onLines } = this.#deps;
    // A thread without a parent is an earlier thread of the session, which was lost.
    if (ephemeral || parentThreadId === null) return "refused";
    if (path === null) return "not_found";
    if (!(await this.#hasRoom(id))) return "refused";
    await rollouts.follow(id, path, "agent");
    // The last event of the agent may have arrived in the meantime.
    const lines = rollouts.collect(id);
    if (lines) onLines(lines);
    return "followed";
  }

  /** Whether the agent's file is stored already, or may be stored in addition to the others. */
  async #hasRoom(threadId: string): Promise<boolean> {
    this.#stored ??= this.#readStored();
    const stored = await this.#stored.catch((error: unknown) => {
      this.#stored = undefined;
      throw error;
    });
    if (!stored.has(threadId) && stored.size >= AGENT_LIMITS.stored) {
      if (!this.#hasWarned) {
        const message = `Only the histories of the session's first ${AGENT_LIMITS.stored} agents are stored`;
        this.#deps.onWarning(undefined, message);
      }
      this.#hasWarned = true;
      return false;
    }
    stored.add(threadId);
    return true;
  }

  async #readStored(): Promise<Set<string>> {
    const files = await this.#deps.store.lineage(this.#deps.state.sessionId);
    return new Set(files.filter(({ role }) => role === "agent").map(({ id }) => id.split("_", 1)[0] ?? id));
  }
}
