import type { Database } from "../database.ts";
import type { SessionRow } from "../database/tables.ts";
import { DaemonError } from "../errors.ts";
import { pinnedNode } from "../session-store/needs.ts";
import type { FleetNode } from "../fleet-store/node-directory.ts";

/** Seconds after which a client retries. Long enough for a node to restart. */
const RETRY_SECONDS = 5;

/** The machine that has the terminals, files and images of a session. */
export type SessionLocation =
  | { readonly where: "here" }
  | { readonly where: "node"; readonly node: FleetNode }
  /** The node with the files is not running. */
  | { readonly where: "away"; readonly name: string };

export interface ThisNode {
  readonly nodeName: string;
  readonly database: Pick<Database, "store" | "fleet">;
}

/**
 * Returns the node that a session is pinned to, else its owner if alive, else its previous owner if alive, else this node. With
 * SQLite, this daemon has all sessions except those pinned to another name.
 */
export async function locateSession(
  session: Pick<SessionRow, "needs" | "node_id" | "last_node">,
  { nodeName, database: { store, fleet } }: ThisNode,
): Promise<SessionLocation> {
  const pinned = pinnedNode(JSON.parse(session.needs) as string[]);
  // The usual case, without a query for the other nodes.
  if (pinned === nodeName) return { where: "here" };
  if (store.kind === "sqlite")
    return pinned === undefined ? { where: "here" } : { where: "away", name: pinned };
  if (pinned === undefined && session.last_node === null) return { where: "here" };
  const nodes = await fleet.rows();
  const alive = nodes.filter(({ isAlive }) => isAlive);
  if (pinned !== undefined) {
    const node = alive.find(({ name }) => name === pinned);
    return node ? { where: "node", node } : { where: "away", name: pinned };
  }
  const node =
    alive.find(({ id }) => id === session.node_id) ?? alive.find(({ name }) => name === session.last_node);
  return node === undefined || node.name === nodeName ? { where: "here" } : { where: "node", node };
}

/** The error for a session whose machine can't be reached. With SQLite there are no other nodes, so retrying does not help. */
export function machineAway(name: string, kind: "sqlite" | "postgres"): DaemonError {
  if (kind === "postgres") return nodeUnavailable(name);
  return new DaemonError(
    "files_unavailable",
    `The files of the session are on the node ${JSON.stringify(name)}, which does not use this store.`,
  );
}

export function nodeUnavailable(
  name: string,
  reason = "It is not running, or it can't be reached.",
): DaemonError {
  return new DaemonError(
    "node_unavailable",
    `The request needs the node ${JSON.stringify(name)}. ${reason}`,
    {
      details: { node: name, retryAfter: RETRY_SECONDS },
    },
  );
}
