import type { Store } from "@codexkit/store";
import { type SelectQueryBuilder, sql } from "kysely";
import type { NewSessionEvent } from "../api/event.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { ClaimedSession, DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables, SessionRow } from "../database/tables.ts";
import { canRun, type NodeAbilities } from "./placement.ts";
import type { EventBatch, Journal } from "../journal/journal.ts";
import { activeSessions, findReady, type ReadySession } from "./ready-sessions.ts";

/** Candidates per wanted session in Postgres, because other nodes may be claiming some of them. */
const CANDIDATES = 4;

export interface ClaimingNode extends NodeAbilities {
  readonly nodeId: string;
  /** Sessions of former boots with this name are claimed immediately. */
  readonly name: string;
}

export interface ClaimOptions extends ClaimingNode {
  readonly limit: number;
  /** Maximum number of claimed sessions that wait for a node. Default: `limit`. */
  readonly readyLimit?: number;
  /** Whether sessions of nodes whose lease has ended are claimed. Default: true. */
  readonly mayTakeOver?: boolean;
  /** How long a session is reserved for its previous node while that node is alive. Default: 0. */
  readonly affinityMs?: number;
}

/** Why a session is taken over from another node or a former boot. */
type TakeoverReason = Exclude<ClaimedSession["reason"], "ready">;

interface KnownNode extends NodeAbilities {
  readonly id: string;
  readonly name: string;
  readonly isLost: boolean;
  /** Whether it claims sessions. */
  readonly isUp: boolean;
  readonly hasSessions: boolean;
}

/**
 * Claims sessions of former boots first, then sessions of lost nodes, then sessions without an owner. Each step is one transaction,
 * so that nodes don't wait for each other's longer than necessary.
 */
export async function claimSessions(
  store: Store<DaemonTables>,
  journal: Journal,
  options: ClaimOptions,
): Promise<readonly ClaimedSession[]> {
  const { nodeId, name, limit, mayTakeOver = true } = options;
  if (limit <= 0) return [];
  const others = (await listNodes(store)).filter(({ id }) => id !== nodeId);
  const claimed: ClaimedSession[] = [];
  const upNodes = others.filter((node) => node.isUp && node.name !== name);
  const takeOver = async (nodes: readonly KnownNode[], reason: TakeoverReason): Promise<void> => {
    const owners = nodes.filter(({ hasSessions }) => hasSessions);
    const room = limit - claimed.length;
    if (owners.length === 0 || room <= 0) return;
    // The other nodes take their share of the sessions of a lost node.
    const peers = reason === "node_lost" ? upNodes : [];
    const lost = { nodes: owners, reason, limit: room, peers };
    claimed.push(...(await claimOwned(store, journal, lost, options)));
  };
  await takeOver(
    others.filter((node) => node.name === name),
    "restart",
  );
  if (mayTakeOver) {
    await takeOver(
      others.filter((node) => node.name !== name && node.isLost),
      "node_lost",
    );
  }
  const room = Math.min(limit - claimed.length, options.readyLimit ?? limit);
  if (room > 0) {
    const upNames = upNodes.map((node) => node.name);
    claimed.push(...(await claimReady(store, journal, upNames, { ...options, limit: room })));
  }
  return claimed;
}

async function listNodes({ db, now }: Store<DaemonTables>): Promise<readonly KnownNode[]> {
  const rows = await db
    .selectFrom("node")
    .select([
      "id",
      "name",
      "state",
      "lease_until",
      "drain_requested",
      "labels",
      "codex_version",
      now.as("now"),
    ])
    .select((where) =>
      where
        .exists(where.selectFrom("session").select("session.id").whereRef("session.node_id", "=", "node.id"))
        .as("hasSessions"),
    )
    .execute();
  return rows.map(
    ({ lease_until: leaseUntil, drain_requested: isDraining, now: at, hasSessions, ...node }) => ({
      id: node.id,
      name: node.name,
      labels: JSON.parse(node.labels) as string[],
      codexVersion: node.codex_version,
      isLost: leaseUntil < at,
      isUp: leaseUntil >= at && node.state === "up" && isDraining === 0,
      hasSessions: Boolean(hasSessions),
    }),
  );
}

/** Claims sessions again that the node owns already, with a new epoch. */
export async function reclaimSessions(
  store: Store<DaemonTables>,
  journal: Journal,
  ids: readonly string[],
  node: ClaimingNode,
): Promise<readonly ClaimedSession[]> {
  return claim(store, journal, node, async (trx) => {
    const owned = trx.selectFrom("session").where("id", "in", ids).where("node_id", "=", node.nodeId);
    const names = new Map([[node.nodeId, node.name]]);
    return lockOwned(store, owned, { node, names, reason: "restart", limit: ids.length, peers: [] });
  });
}

interface LostNodes {
  readonly nodes: readonly KnownNode[];
  readonly reason: TakeoverReason;
  readonly limit: number;
  /** Other nodes that take over the same sessions. */
  readonly peers: readonly NodeAbilities[];
}

/** Claims sessions of lost nodes or former boots. The fence orders this with writes that they may still be sending. */
async function claimOwned(
  store: Store<DaemonTables>,
  journal: Journal,
  { nodes, reason, limit, peers }: LostNodes,
  node: ClaimOptions,
): Promise<readonly ClaimedSession[]> {
  const names = new Map(nodes.map(({ id, name }) => [id, name]));
  return claim(store, journal, node, async (trx) => {
    const nodeIds = await lockLost(store, trx, [...names.keys()], reason);
    if (nodeIds.length === 0) return [];
    const owned = trx
      .selectFrom("session")
      .where("node_id", "in", nodeIds)
      // A session without work can stay with a lost node until it gets work or the node is back.
      .$if(reason === "node_lost", (query) => query.where("ready_at", "is not", null));
    return lockOwned(store, owned, { node, names, reason, limit, peers });
  });
}

/** Selects sessions that the node can run, and locks them. */
async function lockOwned(
  store: Store<DaemonTables>,
  all: SelectQueryBuilder<DaemonTables, "session", object>,
  {
    node,
    names,
    reason,
    limit,
    peers,
  }: {
    readonly node: ClaimingNode;
    /** Names of the owners by ID. */
    readonly names: ReadonlyMap<string, string>;
    readonly reason: TakeoverReason;
    readonly limit: number;
    readonly peers: readonly NodeAbilities[];
  },
): Promise<readonly LockedSession[]> {
  const owned = all.where("phase", "<>", "deleted");
  const classes = await owned
    .select(["needs", sql<string>`coalesce(codex_version, '')`.as("codexVersion")])
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .groupBy(["needs", sql`coalesce(codex_version, '')`])
    .execute();
  const taken: LockedSession[] = [];
  for (const placement of classes) {
    if (!canRun(placement, node)) continue;
    const { needs, codexVersion, count } = placement;
    const share = Math.ceil(count / (1 + peers.filter((peer) => canRun(placement, peer)).length));
    const room = Math.min(share, limit - taken.length);
    if (room <= 0) break;
    const sessions = owned
      .select(["id", "node_id", "phase"])
      .select((where) =>
        where
          .exists(
            where
              .selectFrom("tenant")
              .select("tenant.id")
              .whereRef("tenant.id", "=", "session.tenant_id")
              .where("max_active", "is not", null),
          )
          .as("isLimited"),
      )
      .where("needs", "=", needs)
      .where(sql`coalesce(codex_version, '')`, "=", codexVersion)
      .orderBy("priority", "desc")
      .orderBy("ready_at")
      .limit(room);
    // Two nodes that claim at once get different sessions instead of waiting for each other.
    const locked = await (store.kind === "postgres" ? sessions.forUpdate().skipLocked() : sessions).execute();
    for (const { id, node_id: from, phase, isLimited } of locked) {
      taken.push({
        id,
        from: names.get(from ?? "") ?? null,
        reason,
        isLimited: Boolean(isLimited),
        wasStranded: phase === "stranded",
      });
    }
  }
  return taken;
}

/**
 * Prevents the nodes from renewing their leases until the end of the transaction. Otherwise a node whose lease has ended could
 * renew it between this check and the takeover, and would then find that it still owns its sessions.
 */
async function lockLost(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  nodeIds: readonly string[],
  reason: TakeoverReason,
): Promise<readonly string[]> {
  const nodes = trx
    .selectFrom("node")
    .select("id")
    .where("id", "in", nodeIds)
    .$if(reason === "node_lost", (query) => query.where("lease_until", "<", store.now));
  const rows = await (store.kind === "postgres" ? nodes.forShare().skipLocked() : nodes).execute();
  return rows.map(({ id }) => id);
}

/** Claims sessions that wait for a node. */
async function claimReady(
  store: Store<DaemonTables>,
  journal: Journal,
  otherNodes: readonly string[],
  options: ClaimOptions,
): Promise<readonly ClaimedSession[]> {
  const { name, limit, labels, codexVersion, affinityMs = 0 } = options;
  // Without a transaction, because usually nothing is found.
  const found = await findReady(store, store.db, {
    name,
    limit: store.kind === "postgres" ? limit * CANDIDATES : limit,
    labels,
    codexVersion,
    affinityMs,
    otherNodes,
  });
  if (found.length === 0) return [];
  return claim(store, journal, options, async (trx) => {
    const allowed = await withinLimits(store, trx, found);
    if (allowed.length === 0) return [];
    const limited = new Set(allowed.filter(({ maxActive }) => maxActive !== null).map(({ id }) => id));
    const ids = allowed.map(({ id }) => id);
    const sessions = trx
      .selectFrom("session")
      .select(["id", "last_node", "phase"])
      .where("id", "in", ids)
      .where("node_id", "is", null)
      .where("ready_at", "is not", null)
      .where("phase", "<>", "deleted");
    // Nodes that search at the same time find the same sessions. Each claims the first ones that no other node is claiming.
    const locked = await (
      store.kind === "postgres"
        ? sessions
            .orderBy(sql`array_position(${ids}::text[], id)`)
            .limit(limit)
            .forUpdate()
            .skipLocked()
        : sessions
    ).execute();
    return locked.map(({ id, last_node: lastNode, phase }) => ({
      id,
      from: lastNode,
      reason: "ready",
      isLimited: limited.has(id),
      wasStranded: phase === "stranded",
      ...(lastNode !== null &&
        lastNode !== name && { moved: otherNodes.includes(lastNode) ? "request" : "drain" }),
    }));
  });
}

/**
 * Leaves out sessions that would exceed the limit of their tenant. The limit is exact, because other nodes wait for the end of the
 * transaction.
 */
async function withinLimits(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  sessions: readonly ReadySession[],
): Promise<readonly ReadySession[]> {
  const tenantIds = sessions.filter(({ maxActive }) => maxActive !== null).map(({ tenantId }) => tenantId);
  if (tenantIds.length === 0) return sessions;
  const tenants = trx
    .selectFrom("tenant")
    .select("id")
    .where("id", "in", [...new Set(tenantIds)])
    // In a fixed order, to avoid deadlocks between nodes.
    .orderBy("id");
  await (store.kind === "postgres" ? tenants.forUpdate() : tenants).execute();
  // A separate statement after the lock, so that it sees what previous holders of the lock have claimed.
  const rooms = await trx
    .selectFrom("tenant")
    .select(["id", "max_active", activeSessions(store, sql.ref("tenant.id")).as("active")])
    .where("id", "in", [...new Set(tenantIds)])
    .execute();
  const room = new Map(
    rooms.map(({ id, max_active: maxActive, active }) => [
      id,
      maxActive === null ? Number.POSITIVE_INFINITY : maxActive - active,
    ]),
  );
  return sessions.filter(({ tenantId }) => {
    const left = room.get(tenantId) ?? Number.POSITIVE_INFINITY;
    room.set(tenantId, left - 1);
    return left > 0;
  });
}

interface LockedSession {
  readonly id: string;
  /** The previous node. */
  readonly from: string | null;
  readonly reason: ClaimedSession["reason"];
  /** Why it has moved, if that is reported to clients. */
  readonly moved?: "drain" | "request";
  readonly isLimited: boolean;
  readonly wasStranded: boolean;
}

async function claim(
  store: Store<DaemonTables>,
  journal: Journal,
  { nodeId, name }: ClaimingNode,
  lock: (trx: DaemonTransaction) => Promise<readonly LockedSession[]>,
): Promise<readonly ClaimedSession[]> {
  const moved: { sessionId: string; events: EventBatch }[] = [];
  const claimed = await store.db.transaction().execute(async (trx) => {
    moved.length = 0;
    const locked = await lock(trx);
    if (locked.length === 0) return [];
    const rows = await trx
      .updateTable("session")
      .set(({ eb }) => ({
        node_id: nodeId,
        last_node: name,
        epoch: eb("epoch", "+", 1),
        phase: eb
          .case()
          .when("phase", "=", "stranded")
          .then("ready" as const)
          .else(eb.ref("phase"))
          .end(),
        problem: eb.case().when("phase", "=", "stranded").then(null).else(eb.ref("problem")).end(),
      }))
      .where(
        "id",
        "in",
        locked.map(({ id }) => id),
      )
      .returningAll()
      .execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    const sessions: ClaimedSession[] = [];
    for (const locking of locked) {
      const { id, from, reason, isLimited } = locking;
      const row = byId.get(id);
      if (!row) continue;
      const news = newsOf(locking, row, name);
      const events = news.length > 0 ? await journal.appendAsClient(trx, id, news) : undefined;
      if (events) moved.push({ sessionId: id, events });
      const session = { ...row, last_seq: row.last_seq + news.length };
      const { epoch } = row;
      sessions.push({ sessionId: id, nodeId, epoch, session, reason, previousNode: from, isLimited });
    }
    return sessions;
  });
  if (moved.length > 0) journal.publish(moved, [notificationKeys.sessions]);
  return claimed;
}

/** The events that report a claim to clients. */
function newsOf(
  { from, reason, moved, wasStranded }: LockedSession,
  { thread_id: threadId }: SessionRow,
  to: string,
): NewSessionEvent[] {
  const news: NewSessionEvent[] = [];
  if (reason !== "ready") news.push({ type: "session.moved", from, to, reason });
  // A session without a thread has nothing to move.
  else if (moved && threadId !== null) news.push({ type: "session.moved", from, to, reason: moved });
  if (wasStranded) news.push({ type: "session.updated", changes: { phase: "ready", problem: null } });
  return news;
}
