import { z } from "zod";
import { node, tenant, tenantLimits } from "../fleet.ts";
import { booleanParameter, identifier, tenantName } from "../parameters.ts";
import type { Route } from "../route.ts";

const nodeParams = z.strictObject({ nodeId: identifier });

export const fleetRoutes = {
  "GET /nodes": {
    summary: "List the nodes of the fleet",
    description:
      "The newest start of each daemon that uses the store. One that has stopped is listed as long as sessions need it.",
    tag: "fleet",
    scope: "read",
    status: 200,
    response: z.object({ data: z.array(node) }).meta({ id: "NodeList" }),
  },
  "POST /nodes/{nodeId}/drain": {
    summary: "Let a node hand its sessions over to the others",
    description:
      "Any node takes the request. The node that is meant takes no more sessions, and its running turns may end.",
    tag: "fleet",
    scope: "admin",
    params: nodeParams,
    status: 202,
    response: node,
    problems: ["not_found", "node_lost"],
  },
  "DELETE /nodes/{nodeId}": {
    summary: "Give up a node that is lost",
    description:
      "The sessions that need its folders fail with `node_lost`, and continue if it comes back under its name and they get a message. With `rehome`, they may run on any node instead, over the same path there.",
    tag: "fleet",
    scope: "admin",
    params: nodeParams,
    query: z.strictObject({
      rehome: booleanParameter().default(false).meta({
        description: "Whether any node may continue its sessions, because it has the same folders.",
      }),
    }),
    status: 204,
    problems: ["not_found", "unprocessable"],
  },
  "GET /tenants": {
    summary: "List tenants, with their limits and their use of the fleet",
    description: "Tenants limit sessions and share nodes fairly. They hide nothing from each other.",
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
