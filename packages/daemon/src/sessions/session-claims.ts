import { CODEX_VERSION } from "codexkit";
import type { Database } from "../database.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { ClaimedSession } from "../database/ownership.ts";
import type { FleetLimits } from "../fleet/limits.ts";
import type { NodeLease } from "../fleet/node-lease.ts";
import { NodeLoad } from "../fleet/node-load.ts";
import { Wake } from "../wake.ts";
import type { OwnedSessions } from "./owned-sessions.ts";
import type { RunnerLogger } from "./session-deps.ts";

/**
 * A node claims this fraction (1/n) of its free capacity at a time, so that sessions spread over the nodes. A full node releases
 * the same fraction of its capacity.
 */
const SHARE = 4;

/** Interval between searches for stranded sessions, as a fraction of `leaseMs`. */
const STRAND = 0.25;

/** Interval between searches for sessions that this node owns without knowing it, as a fraction of `leaseMs`. */
const RECLAIM = 1 / 6;

/** The nodes of a fleet claim at different times, so that they share the sessions of a lost node. */
const JITTER = { least: 0.75, range: 0.5 };

export interface SessionClaimsDeps {
  readonly database: Database;
  readonly lease: Pick<NodeLease, "nodeId" | "mayClaim" | "mayTakeOver">;
  readonly sessions: Pick<OwnedSessions, "size" | "has" | "add" | "releaseIdle">;
  readonly name: string;
  readonly labels: readonly string[];
  readonly capacity: number;
  /** Interval between attempts to claim sessions, if no notification arrives. */
  readonly claimMs: number;
  readonly fleet: FleetLimits;
  readonly log: RunnerLogger;
  readonly onChange: () => void;
}

/** Claims sessions that this node can own, for as long as the node runs. */
export class SessionClaims {
  readonly counts = { ready: 0, restart: 0, node_lost: 0 };
  readonly #deps: SessionClaimsDeps;
  readonly #wake = new Wake();
  readonly #load: NodeLoad;
  #isStopped = false;
  /** When stranded sessions were last searched for. */
  #strandedAt = Number.NEGATIVE_INFINITY;
  /** When sessions that this node owns without knowing it were last searched for. */
  #reclaimedAt = performance.now();
  /** Whether idle sessions are being released, to make room for sessions with work. */
  #isReleasing = false;
  #work: Promise<void> = Promise.resolve();
  #subscription: Disposable | undefined;

  constructor(deps: SessionClaimsDeps) {
    this.#deps = deps;
    this.#load = new NodeLoad(deps.fleet);
  }

  start(): void {
    const { notifier } = this.#deps.database.store;
    this.#subscription = notifier.subscribe(notificationKeys.ready, () => this.wake());
    this.#work = this.#run();
  }

  /** Tries to claim sessions immediately. */
  wake(): void {
    this.#wake.set();
  }

  /** Stops claiming. Resolves when no claim is running. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#subscription?.[Symbol.dispose]();
    this.#load[Symbol.dispose]();
    this.wake();
    await this.#work;
  }

  async #run(): Promise<void> {
    const { claimMs, fleet, log } = this.#deps;
    const waitMs = this.#isFleet ? Math.min(claimMs, fleet.takeoverMs) : claimMs;
    while (!this.#isStopped) {
      try {
        await this.#claim();
      } catch (error) {
        // The claim may have been committed nevertheless.
        this.#reclaimedAt = Number.NEGATIVE_INFINITY;
        log.error({ err: error }, "Sessions could not be claimed");
      }
      const factor = this.#isFleet ? JITTER.least + Math.random() * JITTER.range : 1;
      if (!this.#isStopped) await this.#wake.wait(waitMs * factor);
    }
  }

  async #canLeaveToOthers(): Promise<boolean> {
    const { database, lease } = this.#deps;
    const nodes = await database.nodes.list();
    return nodes.some(({ id, isAlive, state }) => id !== lease.nodeId && isAlive && state === "up");
  }

  /** Marks stranded sessions. A restarting node has the duration of a lease to come back before its sessions are marked. */
  async #strand(): Promise<void> {
    const { database, fleet } = this.#deps;
    const now = performance.now();
    if (now - this.#strandedAt < fleet.leaseMs * STRAND) return;
    this.#strandedAt = now;
    await database.sessions.strand({ waitedMs: fleet.leaseMs });
  }

  get #isFleet(): boolean {
    return this.#deps.database.store.kind === "postgres";
  }

  async #claim(): Promise<void> {
    const { database, lease, sessions, capacity, fleet, log } = this.#deps;
    const isFleet = this.#isFleet;
    if (isFleet && !lease.mayClaim) return;
    await this.#reclaim();
    if (isFleet && this.#load.isOverloaded && (await this.#canLeaveToOthers())) return;
    const limit = capacity - sessions.size;
    if (limit <= 0) {
      this.#makeRoom().catch((error: unknown) => log.error({ err: error }, "Sessions could not be released"));
      return;
    }
    const readyLimit = isFleet ? Math.ceil(limit / SHARE) : limit;
    // A SQLite folder has only one daemon, so all other nodes in it have ended.
    const mayTakeOver = !isFleet || lease.mayTakeOver;
    const claimed = await database.sessions.claim({
      ...this.#node,
      limit,
      readyLimit,
      mayTakeOver,
      affinityMs: fleet.affinityMs,
    });
    this.#add(claimed);
    if (mayTakeOver) await this.#strand();
    // There may be more sessions than the limit of one query. Further ones of lost nodes are left to the other nodes for a while.
    if (claimed.filter(({ reason }) => reason === "ready").length >= readyLimit) this.wake();
  }

  /** Releases idle sessions. The caller does not wait for it, because an app-server may not respond. */
  async #makeRoom(): Promise<void> {
    const { sessions, capacity } = this.#deps;
    if (this.#isReleasing) return;
    this.#isReleasing = true;
    try {
      await sessions.releaseIdle(Math.ceil(capacity / SHARE));
    } finally {
      this.#isReleasing = false;
    }
  }

  /**
   * Claims sessions again that this node owns without knowing it: the response to a claim was lost, a session could not be
   * released, or it was given up by mistake.
   */
  async #reclaim(): Promise<void> {
    const { database, lease, sessions, fleet } = this.#deps;
    if (performance.now() - this.#reclaimedAt < fleet.leaseMs * RECLAIM) return;
    const owned = await database.sessions.idsOwnedBy(lease.nodeId);
    const unknown = owned.filter((id) => !sessions.has(id));
    if (unknown.length > 0) this.#add(await database.sessions.reclaim(unknown, this.#node));
    this.#reclaimedAt = performance.now();
  }

  #add(claimed: readonly ClaimedSession[]): void {
    const { lease, sessions, onChange } = this.#deps;
    for (const session of claimed) {
      // If the lease has ended in the meantime, the session is claimed again for the next lease, or by another node.
      if (session.nodeId !== lease.nodeId || (this.#isFleet && !lease.mayClaim)) continue;
      this.counts[session.reason] += 1;
      sessions.add(session);
    }
    if (claimed.length > 0) onChange();
  }

  get #node() {
    const { lease, name, labels } = this.#deps;
    return { nodeId: lease.nodeId, name, labels, codexVersion: CODEX_VERSION };
  }
}
