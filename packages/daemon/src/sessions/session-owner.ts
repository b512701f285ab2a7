import { CodexError, type CodexEvent, isTurnEnd, type Thread } from "codexkit";
import { raceAbort } from "@codexkit/rpc/async";
import { randomUUID } from "node:crypto";
import type { AppServer } from "../codex/app-server.ts";
import type { AppServerLease } from "../codex/pool.ts";
import type { CommandBody } from "../api/command.ts";
import type { NewSessionEvent } from "../api/event.ts";
import type { Problem } from "../api/problem.ts";
import type { CommandResult, FinishOptions, PendingCommand } from "../commands/command-store.ts";
import type { ClaimedSession, Ownership } from "../database/ownership.ts";
import { notificationKeys } from "../database/notifications.ts";
import { DaemonError } from "../errors.ts";
import { sessionPolicy } from "../policy/test-command.ts";
import { AcceptedMessages, findMessage } from "./accepted-messages.ts";
import { type CommandContext, executeCommand, isQueued, type Step } from "./command-executor.ts";
import { EventMapper } from "./event-mapper.ts";
import { type LoadedThread, loadThread } from "./loaded-thread.ts";
import { threadOptions } from "./map-settings.ts";
import { createProblem, errorToProblem } from "./problems.ts";
import { recoverThread } from "./recover.ts";
import { restoreRollouts } from "./restore-rollouts.ts";
import { RolloutShipper } from "./rollout-shipper.ts";
import { SessionApprovals } from "./session-approvals.ts";
import type { SessionDeps } from "./session-deps.ts";
import { parseState, type SessionState } from "./session-state.ts";
import { UsageLimits } from "./usage-limits.ts";
import { Wake } from "./wake.ts";
import { explainLock } from "./writer-lock.ts";

/** Errors after which it is unknown whether Codex got a call. */
const LOST: ReadonlySet<string> = new Set(["connection_lost", "app_server_crashed", "closed", "timeout"]);

/** Events whose transaction also stores the new lines of the thread's rollout file. */
const SHIPS: ReadonlySet<CodexEvent["type"]> = new Set([
  "item.completed",
  "approval.requested",
  "question.requested",
  "usage.updated",
  "turn.completed",
  "turn.failed",
  "turn.interrupted",
]);

/**
 * Owns one session: carries out its commands in order, writes its events, asks for its approvals. Its work ends when it is
 * released, when the session is deleted, or when another owner takes the session over.
 */
export class SessionOwner implements CommandContext {
  readonly state: SessionState;
  readonly #deps: SessionDeps;
  readonly #owner: Ownership;
  readonly #mapper = new EventMapper();
  readonly #approvals: SessionApprovals;
  readonly #accepted = new AcceptedMessages();
  readonly #limits: UsageLimits;
  readonly #rollouts: RolloutShipper;
  readonly #wake = new Wake();
  readonly #stop = new AbortController();
  /** Commands that this boot has begun, so that their start is not that of an earlier boot. */
  readonly #begun = new Set<string>();
  /** Commands whose call may have been lost with the connection. */
  readonly #unsure = new Set<string>();
  /** Commands that Codex has, and whose result is stored later. */
  readonly #inFlight = new Set<string>();
  #loaded: LoadedThread | undefined;
  #lastServer: AppServer | undefined;
  /** Events that arrive while the history is compared with the journal. */
  #held: { event: CodexEvent; server: AppServer }[] | undefined;
  /** Why the thread must be loaded without a command. */
  #recoverReason: string | undefined;
  #work: Promise<void> = Promise.resolve();
  #isDraining = false;
  #hasEnded = false;
  #failures = 0;

  constructor({ session, reason, ...owner }: ClaimedSession, deps: SessionDeps) {
    this.#deps = deps;
    this.#owner = { sessionId: owner.sessionId, nodeId: owner.nodeId, epoch: owner.epoch };
    this.state = parseState(session);
    const { database, limits, codexHome } = deps;
    this.#rollouts = new RolloutShipper(database.rollouts, this.#owner, codexHome);
    this.#limits = new UsageLimits((problem) => this.#limitWasReached(problem));
    if (session.usage !== null && this.state.threadId !== undefined) {
      this.#limits.add(this.state.threadId, JSON.parse(session.usage));
    }
    this.#limits.update(this.state.settings);
    this.#approvals = new SessionApprovals({
      inbox: database.inbox,
      owner: this.#owner,
      cwd: this.state.cwd,
      approvalMs: limits.approvalMs,
      policy: () => ({
        policy: sessionPolicy(this.state.settings, this.state.cwd),
        mayAsk: this.state.settings.approvalPolicy !== "never" && this.state.settings.agentMode !== "chat",
      }),
      rolloutBytes: (threadId) => this.#rollouts.bytes(threadId),
      onChange: deps.onChange,
      onError: (error) => this.#failed(error),
    });
    // A thread without a turn is compared with the journal when it is next used.
    if (reason !== "ready" && this.state.threadId !== undefined && session.phase !== "idle") {
      this.#recoverReason =
        reason === "restart" ? "The daemon was restarted." : "The node of the session was lost.";
    }
  }

  get loaded(): LoadedThread | undefined {
    return this.#loaded;
  }

  get isBusy(): boolean {
    return this.#loaded?.thread.busy === true || this.state.activeTurnId !== undefined;
  }

  get openApprovals(): number {
    return this.#approvals.openCount;
  }

  /** Whether it can be given up without losing anything. */
  get isIdle(): boolean {
    return !this.isBusy && this.#inFlight.size === 0 && this.#recoverReason === undefined;
  }

  get limitReached(): Problem | undefined {
    return this.#limits.reached;
  }

  start(): void {
    const { notifier } = this.#deps.database.store;
    const subscription = notifier.subscribe(notificationKeys.commands(this.state.sessionId), () =>
      this.#wake.set(),
    );
    this.#work = this.#run()
      .catch((error: unknown) => this.#failed(error))
      .finally(() => {
        subscription[Symbol.dispose]();
        this.#limits[Symbol.dispose]();
      });
  }

  /** Begins no more commands. */
  drain(): void {
    this.#isDraining = true;
    this.#wake.set();
  }

  /** Interrupts the running turn, and waits for its end for a limited time. */
  async interrupt(): Promise<void> {
    const { interruptMs } = this.#deps.limits;
    const thread = this.#loaded?.thread;
    if (!thread?.busy) return;
    const limit = AbortSignal.timeout(interruptMs);
    const ended = this.#turnEnd();
    await thread.interrupt({ signal: limit }).catch(() => {});
    if (thread.busy || this.state.activeTurnId !== undefined) await raceAbort(ended, limit).catch(() => {});
  }

  /** Gives the session up, so that any node can claim it. Never rejects. */
  async release(): Promise<void> {
    this.#stop.abort();
    this.#wake.set();
    await this.#work.catch(() => {});
    if (this.#hasEnded) return;
    await this.#deps.database.sessions.release(this.#owner).catch((error: unknown) => {
      if (!isFenced(error)) this.#log("error", error, "The session could not be released");
    });
    await this.#end();
  }

  /** Takes an event of the session's thread or of its agents. Never waits. */
  onEvent(event: CodexEvent, server: AppServer): void {
    if (this.#hasEnded) return;
    if (this.#held) this.#held.push({ event, server });
    else this.#store(event, server);
  }

  /** Takes the end of the app-server's connection. */
  serverEnded(server: AppServer, error: CodexError): void {
    if (this.#loaded?.lease.server !== server) return;
    const wasNeeded = this.isBusy || this.openApprovals > 0;
    this.#loaded.lease[Symbol.dispose]();
    this.#loaded = undefined;
    this.#lastServer = server;
    this.#accepted.rejectAll(error);
    if (wasNeeded) this.#recoverReason = "The app-server ended.";
    this.#log("warn", error, "The app-server of the session ended");
    this.#wake.set();
  }

  // The work of the session.

  async #run(): Promise<void> {
    const { limits, database } = this.#deps;
    while (!this.#stop.signal.aborted) {
      try {
        if (this.#recoverReason !== undefined && !this.#isDraining) await this.load();
        const pending = await database.commands.pending(this.state.sessionId);
        if ((await this.#round(pending)) === "deleted") return;
        this.#failures = 0;
      } catch (error) {
        if (isFenced(error)) throw error;
        this.#failures += 1;
        this.#log("error", error, "A step of the session failed");
        await this.#pause(limits.retryMs);
        continue;
      }
      if (this.#stop.signal.aborted) return;
      const wasWoken = await this.#wake.wait(limits.sessionIdleMs);
      if (!wasWoken && this.isIdle && !this.#stop.signal.aborted) {
        await this.#deps.database.sessions.release(this.#owner);
        await this.#end();
        return;
      }
    }
  }

  /** Carries out what can be carried out now. */
  async #round(pending: readonly PendingCommand[]): Promise<"deleted" | undefined> {
    let isBlocked = false;
    for (const command of pending) {
      if (this.#stop.signal.aborted || this.#isDraining) return undefined;
      if (this.#inFlight.has(command.id)) continue;
      if (isBlocked && isQueued(command)) continue;
      const step = await this.#execute(command);
      if (step === "wait") {
        isBlocked = true;
      } else if ("accepted" in step) {
        this.#finishLater(command, step.accepted);
      } else {
        await this.#finish(command, step.result, step.options);
        if (command.kind === "delete" && step.result.ok) {
          await this.#afterDelete();
          return "deleted";
        }
      }
    }
    return undefined;
  }

  async #execute(command: PendingCommand): Promise<Step> {
    try {
      return await executeCommand(command, this);
    } catch (error) {
      if (isFenced(error)) throw error;
      // Whether Codex has it is found out after the reconnect.
      if (CodexError.is(error) && LOST.has(error.code) && this.#failures < this.#deps.limits.loadAttempts) {
        this.#unsure.add(command.id);
        throw error;
      }
      return { result: { ok: false, problem: await this.#explain(error) } };
    }
  }

  #finishLater(
    command: PendingCommand,
    accepted: Promise<{ readonly result: CommandResult; readonly options?: FinishOptions }>,
  ): void {
    this.#inFlight.add(command.id);
    accepted
      .then(({ result, options }) => this.#finish(command, result, options))
      .catch((error: unknown) => {
        // It stays pending; after the reconnect it is looked for in the thread.
        this.#unsure.add(command.id);
        if (!(CodexError.is(error) && LOST.has(error.code))) this.#failed(error);
      })
      .finally(() => {
        this.#inFlight.delete(command.id);
        this.#wake.set();
      });
  }

  async #finish(command: PendingCommand, result: CommandResult, options?: FinishOptions): Promise<void> {
    await this.#deps.database.commands.finish(this.#owner, command.id, result, options ?? {});
    this.#begun.delete(command.id);
    this.#unsure.delete(command.id);
  }

  async #explain(error: unknown): Promise<Problem> {
    const problem = errorToProblem(error);
    if (problem.type !== "writer_locked" || this.state.threadId === undefined) return problem;
    return { ...problem, ...(await explainLock(this.#deps.codexHome, this.state.threadId)) };
  }

  async #pause(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    await raceAbort(promise, this.#stop.signal).catch(() => {});
    clearTimeout(timer);
  }

  // What the commands use.

  async begin({ id }: PendingCommand): Promise<void> {
    if (this.#begun.has(id)) return;
    await this.#deps.database.commands.begin(this.#owner, id);
    this.#begun.add(id);
  }

  mayHaveBeenSent({ id, startedEpoch }: PendingCommand): boolean {
    return this.#unsure.has(id) || (startedEpoch !== null && !this.#begun.has(id));
  }

  untilAccepted(commandId: string, turnId: string): Promise<string | undefined> {
    return this.#accepted.wait(commandId, turnId);
  }

  findMessage(thread: Thread, commandId: string): Promise<string | undefined> {
    return findMessage(thread, commandId);
  }

  async unqueue(commandId: string): Promise<boolean> {
    const pending = await this.#deps.database.commands.pending(this.state.sessionId);
    const command = pending.find(({ id }) => id === commandId);
    if (command?.kind !== "message" || this.#inFlight.has(commandId) || command.startedEpoch !== null) {
      return false;
    }
    const problem = createProblem("unprocessable", "The message was removed from the queue.", {
      code: "unqueued",
    });
    await this.#finish(command, { ok: false, problem });
    return true;
  }

  settingsChanged(): void {
    this.#limits.update(this.state.settings);
  }

  async fork({ name, lastTurnId }: CommandBody<"fork">, command: PendingCommand): Promise<Step> {
    const { thread } = await this.load();
    await this.begin(command);
    const { cwd, settings, setup, tenantId, priority, needs } = this.state;
    const forked = await thread.fork({
      ...threadOptions(cwd, settings, setup),
      ...(lastTurnId === undefined ? {} : { lastTurnId }),
    });
    if (setup.dedicated === true) {
      // The fork gets an app-server of its own, so that this one must let go of the thread's lock.
      await forked.archive();
      await forked.unarchive();
    }
    await forked.close();
    const id = randomUUID();
    const session = {
      id,
      cwd,
      settings,
      setup,
      tenantId,
      priority,
      needs,
      threadId: forked.id,
      by: command.by,
      key: `fork:${command.id}`,
      ...(name === undefined ? {} : { name }),
    };
    const { sessions } = this.#deps.database;
    return {
      result: { ok: true, sessionId: id, threadId: forked.id },
      options: {
        also: async (trx) => {
          await sessions.insert(session, { trx });
        },
      },
    };
  }

  async deleteSession(): Promise<Step> {
    await this.interrupt();
    await this.#deleteThread().catch((error: unknown) => {
      // The session is deleted all the same. Its file stays in the Codex home.
      this.#log("warn", error, "The thread of a deleted session could not be deleted");
    });
    await this.#approvals.withdrawStale("The session was deleted.");
    const { commands } = this.#deps.database;
    for (const other of await commands.pending(this.state.sessionId)) {
      if (other.kind === "delete") continue;
      const problem = createProblem("session_deleted", "The session was deleted.");
      await this.#finish(other, { ok: false, problem });
    }
    return {
      result: { ok: true },
      options: { changes: { phase: "deleted", activeTurnId: null }, events: [{ type: "session.deleted" }] },
    };
  }

  async followRollout(): Promise<void> {
    const { threadId } = this.state;
    const loaded = this.#loaded;
    if (threadId === undefined || !loaded) return;
    const { path } = await loaded.thread.read();
    if (path !== null) await this.#rollouts.follow(threadId, path, "main");
  }

  /** Loads the thread, and brings the journal up to date with it. */
  async load(): Promise<LoadedThread> {
    if (this.#loaded) return this.#loaded;
    const { pool, threads } = this.#deps;
    const { sessionId, setup, threadId } = this.state;
    // What the lost connection delivered comes first.
    await this.#lastServer?.drained;
    this.#approvals.disconnected();
    this.#mapper.reset();
    const lease = await pool.acquire({ sessionId, dedicated: setup.dedicated === true });
    this.#held = [];
    try {
      if (threadId !== undefined) threads.add(threadId, this);
      const loaded = await this.#loadOn(lease);
      this.#loaded = loaded;
      await (loaded.thread.id === threadId ? this.#resumed(loaded) : this.#started(loaded));
      return loaded;
    } catch (error) {
      this.#loaded = undefined;
      lease[Symbol.dispose]();
      await this.#loadFailed(error);
      throw error;
    } finally {
      const held = this.#held;
      this.#held = undefined;
      for (const { event, server } of held) this.#store(event, server);
    }
  }

  async #loadOn(lease: AppServerLease): Promise<LoadedThread> {
    const { handlers } = this.#approvals;
    const { sessionId, threadId } = this.state;
    const options = { ...this.state, threadId, handlers };
    try {
      return await loadThread(lease, options);
    } catch (error) {
      if (threadId === undefined || !(CodexError.is(error) && error.code === "thread_not_found")) throw error;
      const { rollouts, journal } = this.#deps.database;
      const { codexHome } = this.#deps;
      if ((await restoreRollouts(rollouts, { sessionId, codexHome })) > 0) return loadThread(lease, options);
      // Codex stores a thread with its first message, and forgets one without messages when it ends.
      if ((await journal.turns(sessionId, { limit: 1 })).rows.length > 0) throw error;
      return loadThread(lease, { ...options, threadId: undefined });
    }
  }

  async #started({ thread }: LoadedThread): Promise<void> {
    this.state.threadId = thread.id;
    this.#deps.threads.add(thread.id, this);
    await this.#deps.database.sessions.update(this.#owner, { threadId: thread.id, phase: "idle" }, [
      { type: "session.updated", changes: { threadId: thread.id } },
    ]);
    await this.followRollout();
  }

  async #resumed({ thread }: LoadedThread): Promise<void> {
    const { database } = this.#deps;
    const reason = this.#recoverReason ?? "The thread was resumed.";
    const recovery = await recoverThread(this.state.sessionId, thread, { journal: database.journal, reason });
    this.#mapper.skip(recovery);
    if (recovery.runningTurnId !== undefined) this.#mapper.join(recovery.runningTurnId);
    await this.followRollout();
    if (recovery.events.length > 0) {
      await database.journal.append(this.#owner, recovery.events, this.#rollouts.collect(thread.id));
    }
    this.state.activeTurnId = recovery.runningTurnId;
    if (!thread.busy && this.#recoverReason !== undefined) {
      await database.sessions.update(this.#owner, { phase: "idle", activeTurnId: null, problem: null });
    }
    if (thread.busy) await this.#resumeAgents();
    await this.#approvals.withdrawStale("The process that asked has ended.");
    if (this.state.goal) await this.#restoreGoal(thread);
    this.#recoverReason = undefined;
  }

  /** Agents that run have to be resumed one by one: their events and requests go to clients that have. */
  async #resumeAgents(): Promise<void> {
    const { threadId } = this.state;
    const codex = this.#loaded?.codex;
    if (threadId === undefined || !codex) return;
    for await (const agent of codex.listThreads({ ancestorThreadId: threadId })) {
      this.#deps.threads.add(agent.id, this);
      if (agent.status.type !== "active") continue;
      await codex.resumeThread(agent.id, { handlers: this.#approvals.handlers });
      if (agent.path !== null) await this.#rollouts.follow(agent.id, agent.path, "agent");
    }
  }

  /** Codex keeps goals outside the thread's file, so that a restored thread has none. */
  async #restoreGoal(thread: Thread): Promise<void> {
    const { goal } = this.state;
    if (!goal || (await thread.goal.get()) !== null) return;
    await thread.goal.set({ objective: goal.objective, tokenBudget: goal.tokenBudget ?? null });
  }

  async #loadFailed(error: unknown): Promise<void> {
    if (isFenced(error) || this.#stop.signal.aborted) return;
    const problem = await this.#explain(error);
    const phase = this.#failures + 1 >= this.#deps.limits.loadAttempts ? { phase: "failed" as const } : {};
    await this.#deps.database.sessions
      .update(this.#owner, { problem, ...phase }, [{ type: "session.updated", changes: { problem } }])
      .catch(() => {
        // The error itself is reported by the caller.
      });
  }

  async #deleteThread(): Promise<void> {
    const { threadId, sessionId, setup } = this.state;
    if (threadId === undefined) return;
    const loaded = this.#loaded;
    if (loaded) {
      await loaded.thread.terminals.clean().catch(() => {});
      await loaded.thread.delete();
      return;
    }
    using lease = await this.#deps.pool.acquire({ sessionId, dedicated: setup.dedicated === true });
    await lease.server.codex.deleteThread(threadId);
  }

  async #afterDelete(): Promise<void> {
    const server = this.#loaded?.lease.server;
    const { database, pool } = this.#deps;
    await database.sessions.release(this.#owner);
    await this.#end();
    if (server && this.state.setup.dedicated === true) await pool.end(server);
    await database.sessions.purge(this.state.sessionId);
  }

  // Events.

  #store(event: CodexEvent, server: AppServer): void {
    // The connection is lost, but the turn and its requests may go on. The history tells, after the reconnect.
    if (server.hasEnded && isConsequenceOfLoss(event)) return;
    this.#observe(event);
    const mapped = this.#mapper.map(event);
    if (mapped) {
      const threadId = event.threadId ?? this.state.threadId ?? "";
      const also = SHIPS.has(event.type) ? this.#rollouts.collect(threadId) : undefined;
      this.#append([mapped], also);
    }
    if (event.type === "approval.requested" || event.type === "question.requested") {
      this.#approvals.published(event.requestId);
    } else if (event.type === "approval.resolved" || event.type === "question.resolved") {
      this.#approvals.resolved(event);
    } else if (isTurnEnd(event) && event.threadId === this.state.threadId) {
      this.#wake.set();
    }
  }

  #append(events: readonly NewSessionEvent[], also?: ReturnType<RolloutShipper["collect"]>): void {
    this.#deps.database.journal
      .append(this.#owner, events, also)
      .catch((error: unknown) => this.#failed(error));
  }

  #observe(event: CodexEvent): void {
    const { state } = this;
    const isOwnThread = event.threadId === state.threadId;
    if (event.type === "turn.started" && isOwnThread) {
      state.activeTurnId = event.turnId;
      this.#deps.onChange();
    } else if (isTurnEnd(event)) {
      this.#accepted.turnEnded(event.turnId);
      if (isOwnThread) {
        state.activeTurnId = undefined;
        this.#turnEnded.resolve();
        this.#turnEnded = Promise.withResolvers();
      }
      this.#deps.onTurnEnd(event.type.slice("turn.".length) as "completed" | "failed" | "interrupted");
    } else if (event.type === "usage.updated") {
      this.#limits.add(event.threadId, event.total);
    } else if (event.type === "thread.started") {
      const { id, path } = event.thread;
      if (path !== null) this.#rollouts.follow(id, path, isOwnThread ? "main" : "agent").catch(() => {});
    } else if (
      (event.type === "item.started" || event.type === "item.completed") &&
      event.item.type === "userMessage" &&
      event.item.clientId !== null
    ) {
      this.#accepted.accept(event.item.clientId, event.turnId);
    }
  }

  #turnEnded = Promise.withResolvers<void>();

  #turnEnd(): Promise<void> {
    return this.#turnEnded.promise;
  }

  #limitWasReached(problem: Problem): void {
    const thread = this.#loaded?.thread;
    if (!thread?.busy) return;
    const threadId = thread.id;
    this.#append([{ type: "warning", kind: "server", threadId, message: problem.detail }]);
    thread
      .interrupt()
      .catch((error: unknown) => this.#log("warn", error, "The turn could not be interrupted"));
  }

  // The end.

  /** A failure that no caller waits for. Another owner's takeover ends the work here. */
  #failed(error: unknown): void {
    if (this.#hasEnded) return;
    if (!isFenced(error)) {
      this.#log("error", error, "The session failed");
      return;
    }
    this.#log("warn", error, "Another owner has taken the session over");
    this.#stop.abort();
    this.#wake.set();
    void this.#end();
  }

  async #end(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stop.abort();
    const loaded = this.#loaded;
    this.#loaded = undefined;
    this.#deps.threads.remove(this);
    this.#accepted.rejectAll(new CodexError("closed", "The session was released."));
    await loaded?.thread.close();
    loaded?.lease[Symbol.dispose]();
    this.#deps.onReleased(this.state.sessionId);
  }

  #log(level: "warn" | "error", error: unknown, message: string): void {
    this.#deps.log[level]({ sessionId: this.state.sessionId, err: error }, message);
  }
}

function isFenced(error: unknown): boolean {
  return DaemonError.is(error) && (error.code === "fenced" || error.code === "closed");
}

function isConsequenceOfLoss(event: CodexEvent): boolean {
  if (event.type === "turn.failed") return LOST.has(event.error.code);
  return (
    (event.type === "approval.resolved" || event.type === "question.resolved") &&
    event.outcome.by === "withdrawn"
  );
}
