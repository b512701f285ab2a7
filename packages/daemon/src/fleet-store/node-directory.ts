import type { Store } from "@codexkit/store";
import type { Node } from "../api/fleet.ts";
import type { AuditLog } from "../database/audit-log.ts";
import type { DaemonTables, NodeRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { isWaiting } from "../session-store/waiting-sessions.ts";
import { pinnedNode } from "../session-store/needs.ts";

/** How long a lost node without sessions stays in the list. */
const LIST_LOST_MS = 3_600_000;

/** One boot of a daemon. */
export type FleetNode = NodeRow & {
  readonly isAlive: boolean;
  /** Time since the end of its lease, in milliseconds. Negative while the node is alive. */
  readonly lostMs: number;
};

export interface FleetCounts {
  readonly nodes: Readonly<Record<Node["state"], number>>;
  /** Sessions with work that wait for a node, excluding stranded ones. */
  readonly ready: number;
  /** Sessions with work that no live node can run. */
  readonly stranded: number;
}

interface SessionCounts {
  readonly sessions: number;
  readonly pinned: number;
}

const NO_SESSIONS: SessionCounts = { sessions: 0, pinned: 0 };

interface CountOptions {
  /** Whether to count the pinned sessions of running nodes too, which reads all sessions. */
  readonly countPinned: boolean;
}

/** Lists the nodes of a fleet. Every node reads the same list from the store. */
export class NodeDirectory {
  readonly #store: Store<DaemonTables>;
  readonly #audit: AuditLog;

  constructor(store: Store<DaemonTables>, audit: AuditLog) {
    this.#store = store;
    this.#audit = audit;
  }

  /** Returns every known boot, newest first. */
  async rows(): Promise<readonly FleetNode[]> {
    const rows = await this.#store.db
      .selectFrom("node")
      .selectAll()
      .select(this.#store.now.as("now"))
      .orderBy("started_at", "desc")
      .orderBy("id", "desc")
      .execute();
    return rows.map(({ now, ...row }) => ({
      ...row,
      isAlive: row.lease_until > now,
      lostMs: now - row.lease_until,
    }));
  }

  /** Returns the newest boot of each daemon, without those that stopped long ago and have no sessions. */
  async list(currentId: string | null): Promise<readonly Node[]> {
    const nodes = await this.#newest({ countPinned: true });
    return nodes.map(({ row, counts }) => viewNode(row, counts, currentId));
  }

  /** Returns the boot with this ID. Rejects with `not_found` if there is none. */
  async require(id: string): Promise<FleetNode> {
    const row = (await this.rows()).find((node) => node.id === id);
    if (!row) throw new DaemonError("not_found", `There is no node ${JSON.stringify(id)}. See GET /nodes.`);
    return row;
  }

  /** Returns the running boot of a daemon. */
  async findAlive(name: string): Promise<FleetNode | undefined> {
    return (await this.rows()).find((node) => node.name === name && node.isAlive);
  }

  /** Whether another node claims sessions. */
  async hasOthers(currentId: string | null): Promise<boolean> {
    return (await this.rows()).some(
      ({ id, isAlive, state }) => id !== currentId && isAlive && state === "up",
    );
  }

  /** Returns the counts for metrics and autoscaling. */
  async counts(): Promise<FleetCounts> {
    const nodes = { up: 0, draining: 0, lost: 0 };
    for (const { row } of await this.#newest({ countPinned: false })) nodes[stateOf(row)] += 1;
    const sessions = await this.#store.db
      .selectFrom("session")
      .select(["phase", ({ fn }) => fn.countAll<number>().as("count")])
      .where((where) => where.or([isWaiting(where, this.#store), where("phase", "=", "stranded")]))
      .groupBy("phase")
      .execute();
    const stranded = sessions.find(({ phase }) => phase === "stranded")?.count ?? 0;
    const all = sessions.reduce((sum, { count }) => sum + count, 0);
    return { nodes, ready: all - stranded, stranded };
  }

  /**
   * Asks a node to drain. The node learns of the request with its next renewal. Rejects with `not_found`, or with `node_lost` if
   * the node is not running.
   */
  async requestDrain(id: string, by: string): Promise<void> {
    const { name, isAlive } = await this.require(id);
    if (!isAlive)
      throw new DaemonError("node_lost", `The node "${name}" is not running, so there is nothing to drain.`);
    await this.#store.db.transaction().execute(async (trx) => {
      await trx.updateTable("node").set({ drain_requested: 1 }).where("id", "=", id).execute();
      await this.#audit.record({ by, action: "node.drained", subject: id, detail: { name } }, trx);
    });
  }

  /** Returns what `list` returns. Without `countPinned`, the number of pinned sessions of running nodes may be too low. */
  async #newest(
    options: CountOptions,
  ): Promise<readonly { readonly row: FleetNode; readonly counts: SessionCounts }[]> {
    const rows = await this.rows();
    const newest = newestByName(rows);
    const counts = await this.#countSessions(rows, newest, options);
    return newest
      .map((row) => ({ row, counts: counts.get(row.id) ?? NO_SESSIONS }))
      .filter(({ row, counts: { sessions } }) => row.lostMs < LIST_LOST_MS || sessions > 0);
  }

  /**
   * Counts the sessions that each node owns, and those that can't run on any other node. A lost node's sessions include those that
   * can't run on any other node.
   */
  async #countSessions(
    rows: readonly FleetNode[],
    newest: readonly FleetNode[],
    { countPinned }: CountOptions,
  ): Promise<ReadonlyMap<string, SessionCounts>> {
    const byName = new Map(newest.map((node) => [node.name, node]));
    const nameOf = new Map(rows.map(({ id, name }) => [id, name]));
    const select = this.#store.db
      .selectFrom("session")
      .select(["node_id", "needs", "phase", ({ fn }) => fn.countAll<number>().as("count")])
      .where("phase", "<>", "deleted")
      .groupBy(["node_id", "needs", "phase"]);
    // While no node is lost, sessions with an owner are enough, and they have an index.
    const groups = await (
      !countPinned && newest.every(({ isAlive }) => isAlive)
        ? select.where("node_id", "is not", null)
        : select.where((where) => where.or([where("node_id", "is not", null), where("needs", "<>", "[]")]))
    ).execute();
    const counts = new Map<string, SessionCounts>();
    const add = ({ id }: FleetNode, { sessions = 0, pinned = 0 }: Partial<SessionCounts>): void => {
      const before = counts.get(id) ?? NO_SESSIONS;
      counts.set(id, { sessions: before.sessions + sessions, pinned: before.pinned + pinned });
    };
    for (const { node_id: owner, needs, phase, count } of groups) {
      const pinned = byName.get(pinnedNode(JSON.parse(needs) as string[]) ?? "");
      const node = pinned?.isAlive === false ? pinned : byName.get(nameOf.get(owner ?? "") ?? "");
      if (node) add(node, { sessions: count });
      if (pinned && phase !== "failed") add(pinned, { pinned: count });
    }
    return counts;
  }
}

/** @param rows Newest first. */
function newestByName(rows: readonly FleetNode[]): readonly FleetNode[] {
  const seen = new Set<string>();
  return rows.filter(({ name }) => !seen.has(name) && seen.add(name));
}

function stateOf({ isAlive, state }: FleetNode): Node["state"] {
  return isAlive ? state : "lost";
}

function viewNode(row: FleetNode, { sessions, pinned }: SessionCounts, currentId: string | null): Node {
  return {
    id: row.id,
    name: row.name,
    url: row.url,
    state: stateOf(row),
    labels: JSON.parse(row.labels) as string[],
    capacity: row.capacity,
    sessions,
    pinnedSessions: pinned,
    runningTurns: row.isAlive ? row.turns : 0,
    leaseUntil: row.lease_until,
    version: row.version,
    codexVersion: row.codex_version,
    startedAt: row.started_at,
    isCurrent: row.id === currentId,
  };
}
