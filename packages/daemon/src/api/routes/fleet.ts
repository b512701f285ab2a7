import { z } from "zod";
import { node, tenant, tenantLimits } from "../fleet.ts";
import { booleanParameter, identifier, tenantName } from "../parameters.ts";
import type { Route } from "../route.ts";

const nodeParams = z.strictObject({ nodeId: identifier });

export const fleetRoutes = {
  "GET /nodes": {
    summary: "List the nodes of the fleet",
    description:
      "The newest boot of each daemon that uses the store. A stopped daemon is listed as long as sessions need it.",
    tag: "fleet",
    scope: "read",
    status: 200,
    response: z.object({ data: z.array(node) }).meta({ id: "NodeList" }),
  },
  "POST /nodes/{nodeId}/drain": {
    summary: "Drain a node, so that other nodes take over its sessions",
    description:
      "Any node accepts the request. The named node stops claiming sessions, waits a limited time for its running turns to end, and releases its sessions. It stays `draining` until it is restarted. Its `pinnedSessions` don't move: they wait until then.",
    tag: "fleet",
    scope: "admin",
    params: nodeParams,
    status: 202,
    response: node,
    problems: ["not_found", "node_lost"],
  },
  "DELETE /nodes/{nodeId}": {
    summary: "Remove a lost node",
    description:
      "Rejected while the node is running, even if it is drained. Its `pinnedSessions` fail with `node_lost`. They continue with their next message if the node comes back with the same name. With `rehome`, they can run on any node instead, in the folder with the same path on that node.",
    tag: "fleet",
    scope: "admin",
    params: nodeParams,
    query: z.strictObject({
      rehome: booleanParameter().default(false).meta({
        description:
          "Whether any node may continue the sessions. Only valid if all nodes have the same folders.",
      }),
    }),
    status: 204,
    problems: ["not_found", "unprocessable"],
  },
  "GET /tenants": {
    summary: "List tenants with their limits and their usage of the fleet",
    description:
      "Tenants have session limits and fair shares of the nodes. They are not an access boundary: every token can read the sessions of all tenants.",
    tag: "fleet",
    scope: "admin",
    status: 200,
    response: z.object({ data: z.array(tenant) }).meta({ id: "TenantList" }),
  },
  "PUT /tenants/{tenantId}": {
    summary: "Create a tenant, or replace its limits",
    tag: "fleet",
    scope: "admin",
    params: z.strictObject({ tenantId: tenantName }),
    body: tenantLimits,
    status: 200,
    response: tenant,
    problems: ["store_full"],
  },
} as const satisfies Record<string, Route>;
