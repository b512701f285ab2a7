import type { CodexError } from "codexkit";
import { withTimeout } from "@codexkit/rpc/async";
import type { AppServer } from "../codex/app-server.ts";
import type { ClaimedSession } from "../database/ownership.ts";
import { DaemonError } from "../errors.ts";
import type { RunnerLogger, SessionDeps } from "./session-deps.ts";
import { SessionOwner } from "./session-owner.ts";
import type { ThreadListener } from "./thread-routes.ts";

export interface OwnedSessionsDeps {
  readonly deps: () => SessionDeps;
  readonly interruptMs: number;
  readonly log: RunnerLogger;
  readonly onChange: () => void;
}

/** The sessions that this node owns. */
export class OwnedSessions {
  /** Number of sessions that were given up because another node has taken them. */
  fenced = 0;
  readonly #deps: OwnedSessionsDeps;
  readonly #owners = new Map<string, SessionOwner>();
  /** Sessions that had nothing to park, although they still have open requests. */
  readonly #answered = new WeakSet<SessionOwner>();

  constructor(deps: OwnedSessionsDeps) {
    this.#deps = deps;
  }

  get size(): number {
    return this.#owners.size;
  }

  get runningTurns(): number {
    return this.#all().filter(({ isBusy }) => isBusy).length;
  }

  get openApprovals(): number {
    return this.#all().reduce((sum, { openApprovals }) => sum + openApprovals, 0);
  }

  has(sessionId: string): boolean {
    return this.#owners.has(sessionId);
  }

  /** Starts working on a session, after the work of its former owner in this process has ended. */
  add(session: ClaimedSession): void {
    const former = this.#owners.get(session.sessionId);
    const owner = new SessionOwner(session, this.#deps.deps());
    this.#owners.set(session.sessionId, owner);
    owner.start(former?.abandon());
  }

  /** Removes a session that is no longer owned. */
  remove(released: ThreadListener): void {
    for (const [sessionId, owner] of this.#owners) {
      if (owner === released) this.#owners.delete(sessionId);
    }
  }

  serverEnded(server: AppServer, error: CodexError): void {
    for (const owner of this.#owners.values()) owner.serverEnded(server, error);
  }

  /**
   * Gives up all sessions except these, without waiting for their work to end. `onServer` is called with each app-server that has
   * one of their threads.
   */
  keepOnly(sessionIds: ReadonlySet<string>, onServer: (server: AppServer) => void): void {
    for (const [sessionId, owner] of this.#owners) {
      if (sessionIds.has(sessionId)) continue;
      this.fenced += 1;
      if (owner.server) onServer(owner.server);
      void owner.abandon();
    }
  }

  /** Releases up to `count` idle sessions, to make room for sessions with work. */
  async releaseIdle(count: number): Promise<void> {
    const idle = this.#all().filter((owner) => owner.isIdle);
    await Promise.all(idle.slice(0, count).map((owner) => owner.release()));
  }

  /** Starts no more commands, and releases sessions without a turn. */
  drain(): void {
    for (const owner of this.#owners.values()) owner.drain();
  }

  /** Whether a turn is running, or about to start, that does not wait for a person. */
  get isBusy(): boolean {
    // A turn that waits for a person does not count, because parking it takes no time.
    return this.#all().some(
      (owner) => owner.isWorking && (owner.openApprovals === 0 || this.#answered.has(owner)),
    );
  }

  /** Parks the requests that wait for a person, so that their threads need no process. */
  async parkWaiting(reason: "drain" | "memory"): Promise<void> {
    const waiting = this.#all().filter((owner) => owner.openApprovals > 0);
    const parked = Promise.all(
      waiting.map(async (owner) => {
        try {
          // All its requests were just answered, so that its turn continues.
          if ((await owner.park(reason)) === 0) this.#answered.add(owner);
        } catch (error) {
          this.#deps.log.warn({ err: error }, "Requests of a session could not be parked");
        }
      }),
    );
    await this.atMost(parked);
  }

  async interrupt(): Promise<void> {
    await Promise.all(this.#all().map((owner) => owner.cutOff()));
  }

  async release(): Promise<void> {
    await Promise.all(this.#all().map((owner) => owner.release()));
  }

  async atMost(work: Promise<unknown>): Promise<void> {
    const { interruptMs, log } = this.#deps;
    const toError = (): Error =>
      new DaemonError("timeout", `Sessions were not released within ${interruptMs} ms.`);
    await withTimeout(work, interruptMs, toError).catch((error: unknown) => {
      log.warn({ err: error }, "Draining continues without some sessions");
    });
  }

  #all(): readonly SessionOwner[] {
    return [...this.#owners.values()];
  }
}
