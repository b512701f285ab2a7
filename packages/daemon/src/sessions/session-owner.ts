import { CodexError, type CodexEvent } from "codexkit";
import { raceAbort } from "@codexkit/rpc/async";
import { setTimeout as delay } from "node:timers/promises";
import type { AppServer } from "../codex/app-server.ts";
import type { Problem } from "../api/problem.ts";
import type { ClaimedSession, Ownership } from "../database/ownership.ts";
import { notificationKeys } from "../database/notifications.ts";
import { isOutage } from "../database/outage.ts";
import type { ParkReason } from "../inbox/parked-inbox.ts";
import { DaemonError } from "../errors.ts";
import type { AcceptedMessages } from "./accepted-messages.ts";
import type { AgentRollouts } from "./agent-rollouts.ts";
import type { CommandQueue } from "./command-queue.ts";
import type { InterruptedTurn } from "./interrupted-turn.ts";
import type { LoadedThread } from "./loaded-thread.ts";
import { errorToProblem, isFenced, isLost, isUnreachable } from "./problems.ts";
import type { RolloutShipper } from "./rollout-shipper.ts";
import type { SessionApprovals } from "./session-approvals.ts";
import type { SessionDeps } from "./session-deps.ts";
import type { SessionEvents } from "./session-events.ts";
import type { SessionParking } from "./session-parking.ts";
import { createSessionParts } from "./session-parts.ts";
import type { SessionState } from "./session-state.ts";
import { serverEndedError, type SessionThread } from "./session-thread.ts";
import type { ThreadListener } from "./thread-routes.ts";
import type { UsageLimits } from "./usage-limits.ts";
import { Wake } from "../wake.ts";
import { knownTurns } from "./recover.ts";
import { explainLock } from "./writer-lock.ts";

const RECOVER_REASONS: Readonly<Record<ClaimedSession["reason"], string>> = {
  ready: "The daemon was shut down during the turn.",
  restart: "The daemon was restarted.",
  node_lost: "The node of the session was lost.",
};

const EVENTS_LOST =
  "Events of the session could not be stored. Those that Codex has in its history were added again.";

/**
 * Owns one session: carries out its commands in order, writes its events, and handles its approvals. Its work ends when the session
 * is released or deleted, or when another owner takes it over.
 */
export class SessionOwner implements ThreadListener {
  readonly state: SessionState;
  readonly #deps: SessionDeps;
  readonly #owner: Ownership;
  readonly #events: SessionEvents;
  readonly #approvals: SessionApprovals;
  readonly #accepted: AcceptedMessages;
  readonly #limits: UsageLimits;
  readonly #rollouts: RolloutShipper;
  readonly #agents: AgentRollouts;
  readonly #wake = new Wake();
  readonly #stop = new AbortController();
  readonly #queue: CommandQueue;
  readonly #interrupted: InterruptedTurn;
  readonly #thread: SessionThread;
  readonly #parking: SessionParking;
  #work: Promise<void> = Promise.resolve();
  /** Whether other sessions of the tenant may be waiting for this one to be released. */
  readonly #isLimited: boolean;
  /** Whether the session was at rest when it was claimed. */
  #wasIdle: boolean;
  #isDraining = false;
  #hasEnded = false;
  #failures = 0;
  #turnEnded = Promise.withResolvers<void>();

  constructor(claimed: ClaimedSession, deps: SessionDeps) {
    this.#deps = deps;
    this.#isLimited = claimed.isLimited;
    const parts = createSessionParts(claimed, deps, {
      listener: this,
      isBusy: () => this.isBusy,
      isStopped: () => this.#isStopping,
      mayRetry: () => this.#failures < deps.limits.loadAttempts,
      load: () => this.#load(),
      interrupt: () => this.interrupt(),
      explain: (error) => this.#explain(error),
      wake: () => this.#wake.set(),
      onTurnEnd: (end, isOwnThread) => this.#turnHasEnded(end, isOwnThread),
      onLimitReached: (problem) => this.#limitWasReached(problem),
      onEventsLost: (error) => this.#eventsLost(error),
      onLoadFailed: (error) => this.#loadFailed(error),
      onError: (error) => this.#failed(error),
      onWarning: (error, message) => this.#log("warn", error, message),
    });
    this.state = parts.state;
    this.#owner = parts.owner;
    this.#events = parts.events;
    this.#approvals = parts.approvals;
    this.#accepted = parts.accepted;
    this.#limits = parts.limits;
    this.#rollouts = parts.rollouts;
    this.#agents = parts.agents;
    this.#thread = parts.thread;
    this.#parking = parts.parking;
    this.#interrupted = parts.interrupted;
    this.#queue = parts.queue;
    const { session, reason } = claimed;
    // A thread without a turn is compared with the journal when it is next used, unless a request was left open.
    const wasReleased = reason === "ready" && session.active_turn_id === null && session.phase !== "waiting";
    // The delivery loads the thread itself.
    const wasDelivering = session.phase === "running" && session.active_turn_id === null;
    this.#wasIdle = session.phase === "idle" && session.active_turn_id === null;
    const wasAtRest = wasReleased || wasDelivering || session.phase === "idle";
    if (!wasAtRest && this.state.threadId !== undefined) {
      this.#thread.requireRecovery(RECOVER_REASONS[reason]);
    }
  }

  get isBusy(): boolean {
    return this.#thread.loaded?.thread.busy === true || this.state.activeTurnId !== undefined;
  }

  /** The app-server that has the thread loaded, or had it last. */
  get server(): AppServer | undefined {
    return this.#thread.server;
  }

  /** Whether answers of parked requests are being delivered. */
  get isDelivering(): boolean {
    return this.#parking.isDelivering;
  }

  get openApprovals(): number {
    return this.#approvals.openCount;
  }

  /** Whether a turn is running, or something is being done that may start one. */
  get isWorking(): boolean {
    return this.isBusy || this.isDelivering || this.#queue.isBusy;
  }

  /** Whether it can be released without losing anything. */
  get isIdle(): boolean {
    return !this.isWorking && !this.#thread.needsRecovery;
  }

  /** Starts the work, after a former owner in this process has ended its own. */
  start(former: Promise<void> = Promise.resolve()): void {
    const { notifier } = this.#deps.database.store;
    const subscription = notifier.subscribe(notificationKeys.commands(this.state.sessionId), () =>
      this.#wake.set(),
    );
    this.#work = former
      .then(() => this.#run())
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        subscription[Symbol.dispose]();
        this.#limits[Symbol.dispose]();
      });
  }

  /** Starts no more commands. */
  drain(): void {
    this.#isDraining = true;
    this.#wake.set();
  }

  /** Stops a delivery, interrupts the running turn, and waits for both to end, for a limited time. */
  async interrupt(): Promise<void> {
    const limit = AbortSignal.timeout(this.#deps.limits.interruptMs);
    await this.#parking.stopDelivery(limit);
    const thread = this.#thread.loaded?.thread;
    if (!thread) return;
    const ended = this.#turnEnded.promise;
    if (thread.busy) await thread.interrupt({ signal: limit }).catch(() => {});
    // If the turn has ended, its events may not have been received yet.
    if (this.isBusy || this.#queue.hasAccepted) await raceAbort(ended, limit).catch(() => {});
  }

  /** Like `interrupt`, for a turn that the next owner may continue, depending on the session's settings. */
  cutOff(): Promise<void> {
    this.state.isCutOff = true;
    return this.interrupt();
  }

  /** Releases the session, so that any node can claim it. Never rejects. */
  async release(): Promise<void> {
    this.#stop.abort();
    this.#wake.set();
    await this.#work.catch(() => {});
    // A command that was being carried out may have started a turn, which must not continue without an owner.
    await this.cutOff();
    await this.#endBusyServer();
    await this.#end("release");
  }

  /** Ends the app-server of a turn that could not be interrupted. The next owner must not work on the thread at the same time. */
  async #endBusyServer(): Promise<void> {
    const { server } = this;
    if (!this.isBusy || !server) return;
    this.#log("warn", undefined, "The turn could not be interrupted, so its app-server is ended");
    await this.#deps.pool
      .end(server)
      .catch((error: unknown) => this.#log("error", error, "The app-server could not be ended"));
  }

  /** Stops working on a session that another node has taken. Never rejects. */
  async abandon(): Promise<void> {
    this.#stop.abort();
    this.#wake.set();
    await this.#end("abandon");
    await this.#work.catch(() => {});
  }

  /** Receives an event of the session's thread or of its agents. Never waits. */
  onEvent(event: CodexEvent, server: AppServer): void {
    if (!this.#hasEnded) this.#events.receive(event, server);
  }

  /** Receives the end of the app-server's connection. */
  serverEnded(server: AppServer, error: CodexError): void {
    const wasNeeded = this.isBusy || this.openApprovals > 0;
    if (!this.#thread.disconnect(server)) return;
    this.#accepted.rejectAll(error);
    if (wasNeeded) this.#thread.requireRecovery("The app-server ended.");
    this.#log("warn", error, "The app-server of the session ended");
    this.#wake.set();
  }

  async #run(): Promise<void> {
    const { limits } = this.#deps;
    while (!this.#stop.signal.aborted) {
      try {
        // The runner may be parking requests too. Answers that arrive in the meantime are delivered afterwards.
        await this.#parking.parked();
        if (this.#thread.needsRecovery && !this.#isStopping) {
          // It is still loaded if only events were lost.
          await this.#thread.unload();
          await this.#load();
        }
        if (this.#wasIdle) {
          const { journal } = this.#deps.database;
          await this.#approvals.closeEnded(() => knownTurns(journal, this.state.sessionId));
          this.#wasIdle = false;
        }
        if (!this.#isStopping) {
          await this.#parking.deliver();
          await this.#interrupted.react();
        }
        if ((await this.#queue.run()) === "deleted") {
          await this.#afterDelete();
          return;
        }
        this.#failures = 0;
      } catch (error) {
        if (isFenced(error)) throw error;
        // The store may be unavailable for longer than the attempts take.
        if (!isOutage(error)) this.#failures += 1;
        this.#log("error", error, "A step of the session failed");
        if (this.#failures >= limits.loadAttempts) this.#giveUpRecovery();
        await delay(limits.retryMs, undefined, { signal: this.#stop.signal }).catch(() => {});
        continue;
      }
      if (this.#stop.signal.aborted) return;
      if ((this.#mustMakeRoom && this.isIdle) || (await this.#canWaitWithoutOwner())) {
        await this.#end("release");
        return;
      }
      // The drain waits for commands that were being carried out.
      if (this.#isDraining) this.#deps.onChange();
      const wasWoken = await this.#wake.wait(limits.sessionIdleMs);
      if (!wasWoken && this.isIdle && !this.#stop.signal.aborted) {
        await this.#end("release");
        return;
      }
    }
  }

  /** Whether nothing new may be started. */
  get #isStopping(): boolean {
    return this.#isDraining || this.#stop.signal.aborted;
  }

  /** Whether the session should be released as soon as it is idle. */
  get #mustMakeRoom(): boolean {
    return (this.#isDraining || this.#isLimited) && this.openApprovals === 0;
  }

  /** Whether the session only waits for answers of parked requests, which needs no owner. */
  async #canWaitWithoutOwner(): Promise<boolean> {
    const { requests } = this.#parking;
    if (!this.isIdle || requests.hasGivenUp || !(await requests.exist())) return false;
    await this.#thread.unload();
    const { commands } = this.#deps.database;
    return (await commands.pending(this.#owner.sessionId)).length === 0;
  }

  /** Gives up the recovery, because commands must not wait for it forever. */
  #giveUpRecovery(): void {
    this.#thread.giveUpRecovery();
    this.state.activeTurnId = undefined;
  }

  async #explain(error: unknown): Promise<Problem> {
    const problem = errorToProblem(error);
    if (problem.type !== "writer_locked" || this.state.threadId === undefined) return problem;
    return { ...problem, ...(await explainLock(this.#deps.codexHome, this.state.threadId)) };
  }

  park(reason: ParkReason): Promise<number> {
    return this.#parking.park(reason);
  }

  async #load(): Promise<LoadedThread> {
    const loaded = await this.#thread.load();
    // The server may have ended while the history was read.
    const { server } = loaded.lease;
    if (!server.hasEnded) {
      // A command may have loaded the thread, and now waits until the session has reacted.
      if (this.state.interruptedTurnId !== undefined) this.#wake.set();
      return loaded;
    }
    this.serverEnded(server, serverEndedError());
    return this.#load();
  }

  async #loadFailed(error: unknown): Promise<void> {
    if (isFenced(error) || isOutage(error) || this.#stop.signal.aborted) return;
    const problem = await this.#explain(error);
    const changes = { problem, ...(this.#isLastAttempt(error) && { phase: "failed" as const }) };
    try {
      await this.#deps.database.sessions.update(this.#owner, changes, [{ type: "session.updated", changes }]);
    } catch {
      // The caller reports the error of the load, which is the one that matters.
    }
  }

  /** Whether the load that failed is not repeated. */
  #isLastAttempt(error: unknown): boolean {
    if (this.#failures + 1 >= this.#deps.limits.loadAttempts) return true;
    // A command that needed the thread is refused, unless the call was lost.
    const isOfCommand = !this.#thread.needsRecovery && !this.isDelivering;
    return isOfCommand && !isLost(error) && !isUnreachable(error);
  }

  async #afterDelete(): Promise<void> {
    const server = this.#thread.loaded?.lease.server;
    const { database, pool } = this.#deps;
    await this.#thread.unload();
    await this.#end("release");
    if (server && this.state.setup.dedicated === true) await pool.end(server);
    await database.sessions.purge(this.state.sessionId);
  }

  #turnHasEnded(end: "completed" | "failed" | "interrupted", isOwnThread: boolean): void {
    if (isOwnThread) {
      this.#turnEnded.resolve();
      this.#turnEnded = Promise.withResolvers();
      this.#closeUnused().catch((error: unknown) => this.#failed(error));
      this.#wake.set();
    }
    this.#deps.onTurnEnd(end);
  }

  async #closeUnused(): Promise<void> {
    // A turn may end before the delivery that started it.
    await this.#parking.delivered();
    // If the shutdown cuts a turn off, the model may not have had the chance to ask again.
    if (!this.#isDraining) await this.#parking.requests.closeUnused();
  }

  #limitWasReached(problem: Problem): void {
    const thread = this.#thread.loaded?.thread;
    if (!thread?.busy) return;
    const threadId = thread.id;
    this.#events.append([{ type: "warning", kind: "server", threadId, message: problem.detail }]);
    thread
      .interrupt()
      .catch((error: unknown) => this.#log("warn", error, "The turn could not be interrupted"));
  }

  /** Handles events that could not be stored. They are restored from the history of the thread, as far as it has them. */
  #eventsLost(error: unknown): void {
    this.#failed(error);
    if (this.#hasEnded || isFenced(error)) return;
    // Once the end of a turn is stored, the items of the turn are no longer compared with the history.
    this.#events.hold();
    this.#accepted.rejectAll(new CodexError("connection_lost", EVENTS_LOST, { cause: error }));
    this.#thread.requireRecovery(EVENTS_LOST);
    const { threadId = "" } = this.state;
    // Stored when the outage has ended. Any other error would occur again.
    if (isOutage(error)) {
      this.#events.append([{ type: "warning", kind: "server", threadId, message: EVENTS_LOST }]);
    }
    this.#wake.set();
  }

  /** Handles an error that no caller waits for. If another owner has taken the session over, the work ends here. */
  #failed(error: unknown): void {
    if (this.#hasEnded) return;
    if (!isFenced(error)) {
      this.#log("error", error, "The session failed");
      return;
    }
    this.#log("warn", error, "Another owner has taken the session over");
    this.#stop.abort();
    this.#wake.set();
    if (DaemonError.is(error) && error.code === "fenced") this.#deps.onFenced(this.server);
    void this.#end("abandon");
  }

  async #end(how: "release" | "abandon"): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stop.abort();
    this.#deps.threads.remove(this);
    this.#accepted.rejectAll(new CodexError("closed", "The session was released."));
    // Codex may have written more lines since the last event. A thread that was parked or deleted is not loaded.
    const hasLines = this.#thread.loaded !== undefined;
    if (how === "release" && hasLines) await this.#agents.settled(this.#deps.limits.interruptMs);
    // Before the release, because the next owner may be in this process and use the same thread.
    await this.#thread.unload();
    if (how === "release") {
      const { also } = hasLines ? this.#rollouts.collectAll() : {};
      await this.#deps.database.sessions.release(this.#owner, also).catch((error: unknown) => {
        if (!isFenced(error)) this.#log("error", error, "The session could not be released");
      });
    }
    this.#deps.onReleased(this);
  }

  #log(level: "warn" | "error", error: unknown, message: string): void {
    this.#deps.log[level]({ sessionId: this.state.sessionId, err: error }, message);
  }
}
