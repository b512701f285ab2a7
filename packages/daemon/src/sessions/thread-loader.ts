import { setTimeout as delay } from "node:timers/promises";
import { CODEX_VERSION, CodexError, type Thread } from "codexkit";
import type { FinishOptions } from "../commands/command-store.ts";
import type { AppServer } from "../codex/app-server.ts";
import type { AppServerLease } from "../codex/pool.ts";
import type { Ownership } from "../database/ownership.ts";
import type { AgentRollouts } from "./agent-rollouts.ts";
import { type LoadedThread, loadThread } from "./loaded-thread.ts";
import { mustReact } from "./interrupted-turn.ts";
import { findLost, parkRequests } from "./park-requests.ts";
import { projectHistory } from "./project-history.ts";
import { endLostTurns, recoverThread } from "./recover.ts";
import { restoreThread } from "../parking/restore-thread.ts";
import type { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SessionEvents } from "./session-events.ts";
import type { SessionState } from "./session-state.ts";
import { webhookTools } from "../webhooks/webhook-tools.ts";
import type { ThreadListener } from "./thread-routes.ts";

/** Interval between attempts to load a thread that another process has open. */
const LOCK_POLL_MS = 100;

export interface ThreadLoaderDeps {
  readonly session: SessionDeps;
  readonly owner: Ownership;
  readonly state: SessionState;
  readonly events: SessionEvents;
  readonly approvals: SessionApprovals;
  readonly rollouts: RolloutShipper;
  readonly agents: AgentRollouts;
  readonly listener: ThreadListener;
  /** Whether another node had the session before. */
  readonly isForeign: boolean;
  /** Whether that node was lost with it. */
  readonly isNodeLost: boolean;
  /** Whether the thread is being loaded to deliver answers of parked requests. */
  readonly isDelivering: () => boolean;
  /** Called when requests of an ended process were parked. */
  readonly onParked: () => void;
}

/** Loads the thread of a session on an app-server, and brings the journal up to date with its history. */
export class ThreadLoader {
  readonly #deps: ThreadLoaderDeps;
  /** Whether this Codex home may have an older state of the thread. */
  #isStale: boolean;

  constructor(deps: ThreadLoaderDeps) {
    this.#deps = deps;
    this.#isStale = deps.isForeign;
  }

  /**
   * @param previous The server of the lost connection. Its delivered events are stored first.
   * @param reason Why events may be missing in the journal. Undefined if none are expected to be missing.
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
      await (loaded.thread.id === threadId ? this.#resumed(loaded, reason) : this.#started(loaded, reason));
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

  /** Like `followRollout`, after a revert. Returns the step that stores the new file. */
  async followRevert(thread: Thread): Promise<Pick<FinishOptions, "also">> {
    await this.followRollout(thread);
    return this.#deps.rollouts.collectAll();
  }

  async #loadOn(lease: AppServerLease): Promise<LoadedThread> {
    const { state, approvals } = this.#deps;
    const { sessionId, threadId } = state;
    const { webhooks, limits } = this.#deps.session;
    const tools = webhookTools(state.setup.tools ?? [], { sessionId, ...webhooks });
    const options = {
      ...state,
      handlers: approvals.handlers,
      tools,
      epoch: this.#deps.owner.epoch,
      isForeign: this.#isStale,
      environmentTokenMs: limits.environmentTokenMs,
    };
    if (this.#isStale && threadId !== undefined) await this.#restore(lease);
    this.#isStale = false;
    try {
      return await this.#loadUnlocked(lease, options);
    } catch (error) {
      if (threadId === undefined || !(CodexError.is(error) && error.code === "thread_not_found")) throw error;
      if ((await this.#restore(lease)) > 0) return loadThread(lease, options);
      if (await this.#hasHistory()) throw error;
      return loadThread(lease, { ...options, threadId: undefined });
    }
  }

  /** Loads the thread. Waits for a former app-server of this daemon, which may still be ending, to release its lock. */
  async #loadUnlocked(
    lease: AppServerLease,
    options: Parameters<typeof loadThread>[1],
  ): Promise<LoadedThread> {
    const until = performance.now() + this.#deps.session.limits.threadLockMs;
    for (;;) {
      try {
        return await loadThread(lease, options);
      } catch (error) {
        const isLocked = CodexError.is(error) && error.code === "thread_locked";
        if (!isLocked || performance.now() + LOCK_POLL_MS > until) throw error;
      }
      await delay(LOCK_POLL_MS);
    }
  }

  /**
   * Whether the journal has a completed item. Codex stores a thread with its first message, and forgets a thread without messages
   * when it exits; the daemon stores the thread's file with the first completed item. Without one, nothing is lost by starting a
   * new thread.
   */
  async #hasHistory(): Promise<boolean> {
    const { journal } = this.#deps.session.database;
    const items = await journal.items(this.#deps.state.sessionId, { limit: 1_000 });
    return items.some(({ status }) => status === "completed");
  }

  async #restore({ server }: AppServerLease): Promise<number> {
    const { session, state, rollouts } = this.#deps;
    const { codexHome, database } = session;
    const written = await restoreThread(server.codex, {
      sessionId: state.sessionId,
      codexHome,
      rollouts: database.rollouts,
    });
    rollouts.forget();
    return written;
  }

  async #started({ thread }: LoadedThread, reason = "The thread was lost."): Promise<void> {
    const { state, session, owner, listener, isNodeLost } = this.#deps;
    const { sessionId, threadId: lostId } = state;
    const { journal, sessions } = session.database;
    const lost =
      lostId === undefined
        ? []
        : await endLostTurns({ sessionId, threadId: lostId }, { journal, reason, isNodeLost });
    state.threadId = thread.id;
    state.activeTurnId = undefined;
    session.threads.add(thread.id, listener);
    await sessions.update(
      owner,
      { threadId: thread.id, codexVersion: CODEX_VERSION, phase: "idle", activeTurnId: null, problem: null },
      [...lost, { type: "session.updated", changes: { threadId: thread.id } }],
    );
    await this.followRollout(thread);
  }

  async #resumed(loaded: LoadedThread, reason: string | undefined): Promise<void> {
    const { state, owner, events, approvals, rollouts, agents } = this.#deps;
    const { codex, thread } = loaded;
    const { database, codexHome } = this.#deps.session;
    const { journal, sessions } = database;
    const files = { sessionId: state.sessionId, rollouts: database.rollouts, codexHome };
    const why = reason ?? "The thread was resumed.";
    await this.followRollout(thread);
    await agents.followAll(codex, thread.id);
    const parts = { database, owner, state, rollouts };
    // Before the history is read, because a process that is still working on the turn repeats its requests.
    const lost = thread.busy ? [] : await findLost(await approvals.undelivered(), parts);
    const recovery = await recoverThread(state.sessionId, thread, {
      journal,
      files,
      reason: why,
      isParked: lost.length > 0,
      isNodeLost: this.#deps.isNodeLost,
      activeTurnId: state.activeTurnId,
      storeOlder: () =>
        projectHistory(state.sessionId, thread, {
          journal,
          files,
          append: (older) => journal.write({ owner, events: older, isHistory: true }),
          reason: why,
        }),
    });
    events.mapper.skip(recovery);
    if (recovery.runningTurnId !== undefined) events.mapper.join(recovery.runningTurnId);
    const isIdle = recovery.runningTurnId === undefined;
    const { cutTurn } = recovery;
    const wasCut = isIdle && cutTurn !== undefined && (await mustReact(database, state, cutTurn));
    if (wasCut) state.interruptedTurnId = cutTurn.id;
    if (recovery.events.length > 0) {
      const also = rollouts.collect(thread.id);
      await journal.write({
        owner,
        events: recovery.events,
        isHistory: recovery.isHistory,
        ...(also && { also }),
        // Stored with the end of the turn. If a crash happens before the requests are parked, the next boot loads the thread again.
        ...(isIdle && lost.length > 0 && { changes: { phase: "parked" } }),
        // Stored with the end of the turn, so that the next owner reacts to it exactly once.
        ...(wasCut && { changes: { interruptedTurnId: cutTurn.id } }),
      });
    }
    state.activeTurnId = recovery.runningTurnId;
    const undelivered = await database.parked.list(state.sessionId);
    const waits = lost.length > 0 || undelivered.some((row) => row.state === "parked");
    const isAnswered = undelivered.some((row) => row.state === "answered");
    const phaseAtRest = isAnswered ? "parked" : "idle";
    await sessions.update(owner, {
      codexVersion: CODEX_VERSION,
      ...(isIdle && {
        phase: waits ? "parked" : this.#deps.isDelivering() ? "running" : phaseAtRest,
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

  /** Resumes the running agents one by one, because their events and requests are only sent to clients that have resumed them. */
  async #resumeAgents({ codex, thread }: LoadedThread): Promise<void> {
    const { session, listener, approvals } = this.#deps;
    for await (const agent of codex.listThreads({ ancestorThreadId: thread.id })) {
      session.threads.add(agent.id, listener);
      if (agent.status.type !== "active") continue;
      await codex.resumeThread(agent.id, { handlers: approvals.handlers });
    }
  }

  /** Sets the goal again. Codex stores goals outside the thread's file, so a restored thread has none. */
  async #restoreGoal(thread: Thread): Promise<void> {
    const { goal } = this.#deps.state;
    if (!goal || (await thread.goal.get()) !== null) return;
    await thread.goal.set({ objective: goal.objective, tokenBudget: goal.tokenBudget ?? null });
  }
}

/** Whether Codex reports that a thread waits for a person. */
async function isWaiting({ codex }: LoadedThread, threadId: string): Promise<boolean> {
  const { status } = await codex.readThread(threadId);
  return status.type === "active" && status.activeFlags.length > 0;
}
