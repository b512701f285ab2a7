import type { Store } from "@codexkit/store";
import { sql, type RawBuilder } from "kysely";
import type { EventBatch, Journal } from "../journal/journal.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { ClaimedSession, DaemonTransaction } from "../database/ownership.ts";
import type { DaemonTables, SessionRow } from "../database/tables.ts";

/** Candidates per wanted session: some may need a newer Codex, or be taken by another node at the same moment. */
const CANDIDATES = 4;

export interface ClaimOptions {
  readonly nodeId: string;
  /** Sessions of former boots with this name are adopted at once. */
  readonly name: string;
  readonly limit: number;
  readonly labels: readonly string[];
  /** Sessions that a newer Codex has written are left alone. */
  readonly codexVersion: string;
}

interface Candidate {
  readonly id: string;
  readonly epoch: number;
  readonly codexVersion: string | null;
  readonly formerNodeId: string | null;
  readonly formerName: string | null;
}

export async function claimSessions(
  store: Store<DaemonTables>,
  journal: Journal,
  options: ClaimOptions,
): Promise<readonly ClaimedSession[]> {
  if (options.limit <= 0) return [];
  const moved: { sessionId: string; events: EventBatch }[] = [];
  const claimed = await store.db.transaction().execute(async (trx) => {
    moved.length = 0;
    const candidates = (await findCandidates(store, trx, options)).filter(
      ({ codexVersion }) => codexVersion === null || compareVersions(codexVersion, options.codexVersion) <= 0,
    );
    const sessions: ClaimedSession[] = [];
    for (const candidate of candidates.slice(0, options.limit)) {
      const session = await take(trx, candidate, options);
      if (!session) continue;
      const reason = reasonFor(candidate, options.name);
      let current = session;
      if (reason !== "ready") {
        const from = candidate.formerName;
        const events = await journal.appendAsClient(trx, session.id, [
          { type: "session.moved", from, to: options.name, reason },
        ]);
        moved.push({ sessionId: session.id, events });
        current = { ...session, last_seq: session.last_seq + events.length };
      }
      const { id: sessionId, epoch } = session;
      sessions.push({ sessionId, nodeId: options.nodeId, epoch, session: current, reason });
    }
    return sessions;
  });
  if (moved.length > 0) journal.publish(moved, [notificationKeys.sessions]);
  return claimed;
}

/**
 * Sessions of former boots first, then those without an owner, then those of lost nodes. Three queries, because each has an
 * index of its own and their union has none.
 */
async function findCandidates(
  store: Store<DaemonTables>,
  trx: DaemonTransaction,
  { nodeId, name, labels, limit }: ClaimOptions,
): Promise<readonly Candidate[]> {
  const wanted = limit * CANDIDATES;
  const base = trx
    .selectFrom("session")
    .leftJoin("node", "node.id", "session.node_id")
    .select([
      "session.id",
      "session.epoch",
      "session.codex_version as codexVersion",
      "session.node_id as formerNodeId",
      "node.name as formerName",
    ])
    .where("session.phase", "<>", "deleted")
    .where(needsOnly(store.kind, labels))
    .orderBy(sql`case when session.last_node = ${name} then 0 else 1 end`)
    .orderBy("session.priority", "desc")
    .orderBy("session.ready_at")
    .limit(wanted);
  const nodes = trx.selectFrom("node").select("id").where("id", "<>", nodeId);
  const queries = [
    base.where("session.node_id", "in", nodes.where("name", "=", name)),
    base.where("session.node_id", "is", null).where("session.ready_at", "<=", store.now),
    base
      .where("session.node_id", "in", nodes.where("name", "<>", name).where("lease_until", "<", store.now))
      .where("session.ready_at", "is not", null),
  ];
  const candidates: Candidate[] = [];
  for (const query of queries) {
    // Two nodes that claim at once get different sessions instead of waiting for each other.
    const locked = store.kind === "postgres" ? query.forUpdate("session").skipLocked() : query;
    if (candidates.length < wanted) candidates.push(...(await locked.execute()));
  }
  return candidates;
}

function needsOnly(kind: "sqlite" | "postgres", labels: readonly string[]): RawBuilder<boolean> {
  if (labels.length === 0) return sql<boolean>`session.needs = '[]'`;
  const needs =
    kind === "postgres"
      ? sql`json_array_elements_text(session.needs::json) as need(value)`
      : sql`json_each(session.needs) as need`;
  return sql<boolean>`not exists (select 1 from ${needs} where need.value not in (${sql.join([...labels])}))`;
}

async function take(
  trx: DaemonTransaction,
  candidate: Candidate,
  { nodeId, name }: ClaimOptions,
): Promise<SessionRow | undefined> {
  return trx
    .updateTable("session")
    .set({ node_id: nodeId, last_node: name, epoch: candidate.epoch + 1 })
    .where("id", "=", candidate.id)
    .where("epoch", "=", candidate.epoch)
    .returningAll()
    .executeTakeFirst();
}

function reasonFor({ formerNodeId, formerName }: Candidate, name: string): ClaimedSession["reason"] {
  if (formerNodeId === null) return "ready";
  return formerName === name ? "restart" : "node_lost";
}

/** Compares dotted versions by their numbers, ignoring what follows them. */
export function compareVersions(a: string, b: string): number {
  const numbers = (version: string): number[] =>
    (/^\d+(?:\.\d+)*/.exec(version)?.[0] ?? "0").split(".").map(Number);
  const [left, right] = [numbers(a), numbers(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index += 1) {
    const difference = (left[index] ?? 0) - (right[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
