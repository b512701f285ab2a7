import type { Store } from "@codexkit/store";
import { sql } from "kysely";
import { createProblem, type Problem } from "../api/problem.ts";
import { notificationKeys } from "../database/notifications.ts";
import type { DaemonTables } from "../database/tables.ts";
import { pinnedNode } from "./needs.ts";
import { canRun, type NodeAbilities, type PlacementClass } from "./placement.ts";
import type { EventBatch, Journal } from "../journal/journal.ts";
import { waitingClasses } from "./ready-sessions.ts";

/** Maximum number of sessions per call. The next call continues. */
const BATCH = 100;

/**
 * Marks sessions as `stranded` that have waited for `waitedMs` and that no live node can run, because the node with their folder is
 * lost or drained, or no node has their labels. A node that can run them still claims them later. Returns their number.
 */
export async function strandSessions(
  store: Store<DaemonTables>,
  journal: Journal,
  { waitedMs }: { readonly waitedMs: number },
): Promise<number> {
  const nodes = await listNodes(store);
  const lostIds = nodes.filter(({ state }) => state === "lost").map(({ id }) => id);
  const live = nodes.filter(({ state }) => state === "up");
  const classes = [...(await waitingClasses(store.db)), ...(await classesOf(store, lostIds))];
  const stranded = classes.filter((placement) => !live.some((node) => canRun(placement, node)));
  const marked: { sessionId: string; events: EventBatch }[] = [];
  for (const placement of stranded) {
    marked.push(
      ...(await strand(store, journal, placement, {
        nodes,
        lostIds,
        waitedMs,
        limit: BATCH - marked.length,
      })),
    );
    if (marked.length >= BATCH) break;
  }
  if (marked.length > 0) journal.publish(marked, [notificationKeys.sessions]);
  return marked.length;
}

interface StrandNode extends NodeAbilities {
  readonly id: string;
  readonly name: string;
  /** Nodes that are draining, or were drained, run but claim no sessions. */
  readonly state: "up" | "draining" | "lost";
}

async function listNodes({ db, now }: Store<DaemonTables>): Promise<readonly StrandNode[]> {
  const rows = await db
    .selectFrom("node")
    .select([
      "id",
      "name",
      "labels",
      "codex_version",
      "state",
      "drain_requested",
      "lease_until",
      now.as("now"),
    ])
    .execute();
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    labels: JSON.parse(row.labels) as string[],
    codexVersion: row.codex_version,
    state: row.lease_until < row.now ? "lost" : row.drain_requested === 0 ? row.state : "draining",
  }));
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
  {
    nodes,
    lostIds,
    waitedMs,
    limit,
  }: { nodes: readonly StrandNode[]; lostIds: readonly string[]; waitedMs: number; limit: number },
): Promise<{ sessionId: string; events: EventBatch }[]> {
  const problem = createStrandedProblem(placement, nodes);
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

function createStrandedProblem(placement: PlacementClass, nodes: readonly StrandNode[]): Problem {
  const labels = JSON.parse(placement.needs) as readonly string[];
  const name = pinnedNode(labels);
  return name === undefined
    ? createMovableProblem(placement, labels, nodes)
    : createPinnedProblem(placement, labels, {
        name,
        node: nodes.find((node) => node.name === name && node.state !== "lost"),
      });
}

function createPinnedProblem(
  { codexVersion }: PlacementClass,
  labels: readonly string[],
  { name, node }: { readonly name: string; readonly node: StrandNode | undefined },
): Problem {
  const folder = `The folder of the session is on the node "${name}", which`;
  if (!node) {
    const detail = `${folder} is lost. Start a node with this name on the same machine, or remove the lost node with \`DELETE /nodes/{nodeId}\`.`;
    return createProblem("node_lost", detail, { node: name });
  }
  const missing = labels.filter((label) => !node.labels.includes(label));
  if (missing.length > 0) {
    const detail = `${folder} lacks the ${quoteLabels(missing)}. Start this node with ${missing.length === 1 ? "it" : "them"}.`;
    return createProblem("node_lost", detail, { node: name, missing });
  }
  const detail =
    node.state === "draining"
      ? `${folder} is drained. Restart this node.`
      : `${folder} has Codex ${node.codexVersion}. The thread was written by Codex ${codexVersion}. Update Codex on this node.`;
  return createProblem("node_lost", detail, { node: name });
}

function createMovableProblem(
  { codexVersion }: PlacementClass,
  needs: readonly string[],
  nodes: readonly StrandNode[],
): Problem {
  const live = nodes.filter(({ state }) => state === "up");
  const missing = needs.filter((label) => !live.some(({ labels }) => labels.includes(label)));
  if (missing.length > 0) {
    const detail = `No running node has the ${quoteLabels(missing)}, which the session needs. Start a node that has ${missing.length === 1 ? "it" : "them"}.`;
    return createProblem("node_lost", detail, { needs, missing });
  }
  const hasAll = live.some(({ labels }) => needs.every((label) => labels.includes(label)));
  const detail = hasAll
    ? `Every running node that the session can use has a Codex older than ${codexVersion}, which wrote its thread. Update Codex on a node.`
    : `No running node has all labels that the session needs: ${quoteList(needs)}. Start a node that does.`;
  return createProblem("node_lost", detail, { needs });
}

/** Returns `label "a"` or `labels "a" and "b"`. */
function quoteLabels(labels: readonly string[]): string {
  return `${labels.length === 1 ? "label" : "labels"} ${quoteList(labels)}`;
}

function quoteList(texts: readonly string[]): string {
  return new Intl.ListFormat("en").format(texts.map((text) => JSON.stringify(text)));
}
