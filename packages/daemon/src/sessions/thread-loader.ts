import { CODEX_VERSION, CodexError, type Thread } from "codexkit";
import type { AppServer } from "../codex/app-server.ts";
import type { AppServerLease } from "../codex/pool.ts";
import type { Ownership } from "../database/ownership.ts";
import { type LoadedThread, loadThread } from "./loaded-thread.ts";
import { findUnconfirmed, parkRequests } from "./park-requests.ts";
import { projectHistory } from "./project-history.ts";
import { recoverThread } from "./recover.ts";
import { restoreRollouts } from "./restore-rollouts.ts";
import type { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SessionEvents } from "./session-events.ts";
import type { SessionState } from "./session-state.ts";
import { webhookTools } from "../webhooks/webhook-tools.ts";
import type { ThreadListener } from "./thread-routes.ts";

export interface ThreadLoaderDeps {
  readonly session: SessionDeps;
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly events: SessionEvents;
  readonly approvals: SessionApprovals;
  readonly rollouts: RolloutShipper;
  readonly listener: ThreadListener;
  /** Called when requests of an ended process were parked. */
  readonly onParked: () => void;
}

/** Loads the thread of a session on an app-server, and brings the journal up to date with its history. */
export class ThreadLoader {
  readonly #deps: ThreadLoaderDeps;

  constructor(deps: ThreadLoaderDeps) {
    this.#deps = deps;
  }

  /**
   * @param previous The server of the lost connection. What it has delivered is stored first.
   * @param reason Why the journal may have a hole, or undefined if none is expected.
   */
  async load(previous: AppServer | undefined, reason: string | undefined): Promise<LoadedThread> {
    const { session, state, events, approvals, listener } = this.#deps;
    await previous?.drained;
    approvals.disconnected();
    events.mapper.reset();
    const { sessionId, setup, threadId } = state;
    const lease = await session.pool.acquire({ sessionId, dedicated: setup.dedicated === true });
    events.hold();
    try {
      if (threadId !== undefined) session.threads.add(threadId, listener);
      const loaded = await this.#loadOn(lease);
      await (loaded.thread.id === threadId ? this.#resumed(loaded, reason) : this.#started(loaded));
      return loaded;
    } catch (error) {
      lease[Symbol.dispose]();
      throw error;
    } finally {
      events.release();
    }
  }

  /** Finds the file that the thread is stored in now. */
  async followRollout(thread: Thread): Promise<void> {
    const { path } = await thread.read();
    if (path !== null) await this.#deps.rollouts.follow(thread.id, path, "main");
  }

  async #loadOn(lease: AppServerLease): Promise<LoadedThread> {
    const { state, approvals } = this.#deps;
    const { sessionId, threadId } = state;
    const { webhooks } = this.#deps.session;
    const tools = webhookTools(state.setup.tools ?? [], { sessionId, ...webhooks });
    const options = { ...state, handlers: approvals.handlers, tools };
    try {
      return await loadThread(lease, options);
    } catch (error) {
      if (threadId === undefined || !(CodexError.is(error) && error.code === "thread_not_found")) throw error;
      const { codexHome, database } = this.#deps.session;
      const restored = await restoreRollouts(database.rollouts, { sessionId, codexHome });
      if (restored > 0) return loadThread(lease, options);
      // Codex stores a thread with its first message, and forgets one without messages when it ends.
      if ((await database.journal.turns(sessionId, { limit: 1 })).rows.length > 0) throw error;
      return loadThread(lease, { ...options, threadId: undefined });
    }
  }

  async #started({ thread }: LoadedThread): Promise<void> {
    const { state, session, owner, listener } = this.#deps;
    state.threadId = thread.id;
    session.threads.add(thread.id, listener);
    await session.database.sessions.update(
      owner,
      { threadId: thread.id, codexVersion: CODEX_VERSION, phase: "idle", problem: null },
      [{ type: "session.updated", changes: { threadId: thread.id } }],
    );
    await this.followRollout(thread);
  }

  async #resumed(loaded: LoadedThread, reason: string | undefined): Promise<void> {
    const { state, owner, events, approvals, rollouts } = this.#deps;
    const { thread } = loaded;
    const { journal, sessions } = this.#deps.session.database;
    const why = reason ?? "The thread was resumed.";
    await this.followRollout(thread);
    const parts = { database: this.#deps.session.database, owner, state, rollouts };
    // Before the history is read, because a process that still works on the turn asks again.
    const lost = thread.busy ? [] : [...(await approvals.undelivered()), ...(await findUnconfirmed(parts))];
    const recovery = await recoverThread(state.sessionId, thread, {
      journal,
      reason: why,
      isParked: lost.length > 0,
      storeOlder: () =>
        projectHistory(state.sessionId, thread, {
          journal,
          append: (older) => journal.append(owner, older),
          reason: why,
        }),
    });
    events.mapper.skip(recovery);
    if (recovery.runningTurnId !== undefined) events.mapper.join(recovery.runningTurnId);
    const isIdle = recovery.runningTurnId === undefined;
    if (recovery.events.length > 0) {
      const also = rollouts.collect(thread.id);
      await journal.write({
        owner,
        events: recovery.events,
        ...(also && { also }),
        // With the end of the turn: after a crash before they are parked, the next boot has to load the thread again.
        ...(isIdle && lost.length > 0 && { changes: { phase: "parked" } }),
      });
    }
    state.activeTurnId = recovery.runningTurnId;
    const { database } = this.#deps.session;
    const waits = (await database.parked.list(state.sessionId)).some((row) => row.state === "parked");
    await sessions.update(owner, {
      codexVersion: CODEX_VERSION,
      ...(isIdle && {
        phase: waits || lost.length > 0 ? "parked" : "idle",
        activeTurnId: null,
        problem: null,
      }),
    });
    if (!isIdle) await this.#resumeAgents(loaded);
    if (isIdle && lost.length > 0) {
      await parkRequests(lost, "crash", parts);
      this.#deps.onParked();
    } else {
      await approvals.closeStale((threadId) => isWaiting(loaded, threadId));
    }
    await this.#restoreGoal(thread);
  }

  /** Agents that run have to be resumed one by one: their events and requests go to clients that have. */
  async #resumeAgents({ codex, thread }: LoadedThread): Promise<void> {
    const { session, listener, approvals, rollouts } = this.#deps;
    for await (const agent of codex.listThreads({ ancestorThreadId: thread.id })) {
      session.threads.add(agent.id, listener);
      if (agent.status.type !== "active") continue;
      await codex.resumeThread(agent.id, { handlers: approvals.handlers });
      if (agent.path !== null) await rollouts.follow(agent.id, agent.path, "agent");
    }
  }

  /** Codex keeps goals outside the thread's file, so that a restored thread has none. */
  async #restoreGoal(thread: Thread): Promise<void> {
    const { goal } = this.#deps.state;
    if (!goal || (await thread.goal.get()) !== null) return;
    await thread.goal.set({ objective: goal.objective, tokenBudget: goal.tokenBudget ?? null });
  }
}

/** Whether Codex says that a thread waits for a person. */
async function isWaiting({ codex }: LoadedThread, threadId: string): Promise<boolean> {
  const { status } = await codex.readThread(threadId);
  return status.type === "active" && status.activeFlags.length > 0;
}
