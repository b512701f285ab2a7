import { CODEX_VERSION } from "codexkit";
import type { Database } from "../database.ts";
import { notificationKeys } from "../database/notifications.ts";
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

export interface SessionClaimsDeps {
  readonly database: Database;
  readonly lease: NodeLease;
  readonly sessions: OwnedSessions;
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
        log.error({ err: error }, "Sessions could not be claimed");
      }
      if (!this.#isStopped) await this.#wake.wait(waitMs);
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
    const { database, lease, sessions, name, labels, capacity, fleet, onChange } = this.#deps;
    const isFleet = this.#isFleet;
    if (isFleet && !lease.mayClaim) return;
    if (isFleet && this.#load.isOverloaded && (await this.#canLeaveToOthers())) return;
    const limit = capacity - sessions.size;
    if (limit <= 0) {
      await sessions.releaseIdle(Math.ceil(capacity / SHARE));
      return;
    }
    const readyLimit = isFleet ? Math.ceil(limit / SHARE) : limit;
    const claimed = await database.sessions.claim({
      nodeId: lease.nodeId,
      name,
      limit,
      readyLimit,
      labels,
      codexVersion: CODEX_VERSION,
      // A SQLite folder has only one daemon, so all other nodes in it have ended.
      mayTakeOver: !isFleet || lease.mayTakeOver,
      affinityMs: fleet.affinityMs,
    });
    for (const session of claimed) {
      this.counts[session.reason] += 1;
      await sessions.add(session);
    }
    if (claimed.length > 0) onChange();
    if (!isFleet || lease.mayTakeOver) await this.#strand();
    // There may be more sessions than the limit of one query.
    if (claimed.length >= readyLimit) this.wake();
  }
}
