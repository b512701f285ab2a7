import type { fleetRoutes } from "../api/routes/fleet.ts";
import type { Node } from "../api/fleet.ts";
import { DaemonError } from "../errors.ts";
import { forgetNode } from "../fleet/forget-node.ts";
import type { Handlers, HttpServices } from "./handler.ts";

export function createFleetHandlers({
  database,
  runner,
  logger,
  onDrain,
}: HttpServices): Handlers<keyof typeof fleetRoutes> {
  const { fleet, tenants } = database;
  return {
    "GET /nodes": async () => ({ data: [...(await fleet.list(runner.status.nodeId))] }),
    "POST /nodes/{nodeId}/drain": async ({ params: { nodeId }, identity }) => {
      const { nodeId: currentId } = runner.status;
      await fleet.requestDrain(nodeId, identity.id);
      if (nodeId === currentId) onDrain();
      return requireNode(await fleet.list(currentId), nodeId);
    },
    "DELETE /nodes/{nodeId}": async ({ params: { nodeId }, query: { rehome }, identity }) => {
      await forgetNode(database, nodeId, { rehome, by: identity.id });
      logger.info({ nodeId, rehome, by: identity.id }, "forgot a node");
      return undefined;
    },
    "GET /tenants": async () => ({ data: [...(await tenants.list())] }),
    "PUT /tenants/{tenantId}": async ({ params, body, identity }) =>
      tenants.put(params.tenantId, body, identity.id),
  };
}

function requireNode(nodes: readonly Node[], id: string): Node {
  const found = nodes.find((node) => node.id === id);
  if (!found) throw new DaemonError("node_lost", `The node ${id} has just been replaced by a newer boot.`);
  return found;
}
