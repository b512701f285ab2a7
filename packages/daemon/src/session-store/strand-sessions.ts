import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { createProblem, type Problem } from "../api/problem.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTables } from "../database/tables.ts";
import { canRun, type NodeAbilities, type PlacementClass } from "./placement.ts";
import type { EventBatch, Journal } from "../journal/journal.ts";
import { waitingClasses } from "./ready-sessions.ts";

/** Maximum number of sessions per call. The next call continues. */
const BATCH = 100;

/**
 * Marks sessions as `stranded` that have waited for `waitedMs` and that no live node can run, because the node with their folder is
 * lost or no node has their labels. A node that can run them still claims them later. Returns their number.
 */
export async function strandSessions(
  store: Store<DaemonTables>,
  journal: Journal,
  { waitedMs }: { readonly waitedMs: number },
): Promise<number> {
  const { live, lostIds } = await listNodes(store);
  const classes = [...(await waitingClasses(store.db)), ...(await classesOf(store, lostIds))];
  const stranded = classes.filter((placement) => !live.some((node) => canRun(placement, node)));
  const marked: { sessionId: string; events: EventBatch }[] = [];
  for (const placement of stranded) {
    marked.push(
      ...(await strand(store, journal, placement, { lostIds, waitedMs, limit: BATCH - marked.length })),
    );
    if (marked.length >= BATCH) break;
  }
  if (marked.length > 0) journal.publish(marked, [notificationKeys.sessions]);
  return marked.length;
}

async function listNodes({ db, now }: Store<DaemonTables>): Promise<{
  readonly live: readonly NodeAbilities[];
  readonly lostIds: readonly string[];
}> {
  const rows = await db
    .selectFrom("node")
    .select(["id", "labels", "codex_version", "lease_until", now.as("now")])
    .execute();
  return {
    live: rows
      .filter((row) => row.lease_until >= row.now)
      .map((row) => ({ labels: JSON.parse(row.labels) as string[], codexVersion: row.codex_version })),
    lostIds: rows.filter((row) => row.lease_until < row.now).map(({ id }) => id),
  };
}

async function classesOf(
  { db }: Store<DaemonTables>,
  nodeIds: readonly string[],
): Promise<readonly PlacementClass[]> {
  if (nodeIds.length === 0) return [];
  return db
    .selectFrom("session")
    .select(["needs", sql<string>`coalesce(codex_version, '')`.as("codexVersion")])
    .distinct()
    .where("node_id", "in", nodeIds)
    .where("ready_at", "is not", null)
    .execute();
}

async function strand(
  store: Store<DaemonTables>,
  journal: Journal,
  placement: PlacementClass,
  { lostIds, waitedMs, limit }: { lostIds: readonly string[]; waitedMs: number; limit: number },
): Promise<{ sessionId: string; events: EventBatch }[]> {
  const problem = createStrandedProblem(placement);
  return store.db.transaction().execute(async (trx) => {
    const waiting = trx
      .selectFrom("session")
      .select("id")
      .where("needs", "=", placement.needs)
      .where(sql`coalesce(codex_version, '')`, "=", placement.codexVersion)
      .where("ready_at", "<=", sql<number>`${store.now} - ${sql.lit(waitedMs)}`)
      .where("phase", "not in", ["stranded", "failed", "deleted"])
      .where((where) =>
        where.or([
          where("node_id", "is", null),
          ...(lostIds.length > 0 ? [where("node_id", "in", lostIds)] : []),
        ]),
      )
      .limit(limit);
    // Skips sessions that a node is claiming at this moment.
    const rows = await (store.kind === "postgres" ? waiting.forUpdate().skipLocked() : waiting).execute();
    const marked: { sessionId: string; events: EventBatch }[] = [];
    for (const { id } of rows) {
      const changes = { phase: "stranded" as const, problem };
      const events = await journal.appendAsClient(trx, id, [{ type: "session.updated", changes }], {
        phase: "stranded",
      });
      await trx
        .updateTable("session")
        .set({ problem: JSON.stringify(problem), updated_at: store.now })
        .where("id", "=", id)
        .execute();
      marked.push({ sessionId: id, events });
    }
    return marked;
  });
}

function createStrandedProblem({ needs }: PlacementClass): Problem {
  const labels = JSON.parse(needs) as readonly string[];
  const node = labels.find((label) => label.startsWith("node:"))?.slice("node:".length);
  if (node === undefined) {
    const detail = `No live node has what the session needs (${labels.join(", ") || "a newer Codex"}). Start a node that does.`;
    return createProblem("node_lost", detail, { needs: labels });
  }
  const detail = `The folder of the session is on the node "${node}", which is lost. Start a node with this name on the same machine, or remove the lost node with \`DELETE /nodes/{nodeId}\`.`;
  return createProblem("node_lost", detail, { node });
}
