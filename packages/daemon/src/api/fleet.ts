import { z } from "zod";
import { tenantName, timestamp } from "./parameters.ts";

/** A boot of a daemon, as other nodes see it. */
export const node = z
  .object({
    id: z.string().meta({ description: "ID of this boot of the daemon. Each start has a new ID." }),
    name: z.string().meta({ description: "Name of the daemon, the same for all its boots." }),
    url: z.string().nullable().meta({
      description:
        "URL at which other nodes reach it, or null. Without it, requests that need its machine work only on the node itself.",
    }),
    state: z.enum(["up", "draining", "lost"]).meta({
      description:
        "up: runs sessions. draining: hands over its sessions, or has done so and is still running. lost: its lease has expired, and sessions that need it wait.",
    }),
    labels: z.array(z.string()),
    capacity: z.int().meta({ description: "Maximum number of sessions that it can own." }),
    sessions: z.int().meta({
      description:
        "Number of sessions that it owns. For a lost node, this includes sessions that can't run on any other node.",
    }),
    pinnedSessions: z.int().meta({
      description:
        "Number of sessions that can't run on any other node, because their folders are on this one. They wait while it is drained or lost, and fail if it is removed. Sessions that have failed are not counted.",
    }),
    runningTurns: z.int().meta({ description: "Number of running turns, as of its last lease renewal." }),
    leaseUntil: timestamp,
    version: z.string(),
    codexVersion: z.string(),
    startedAt: timestamp,
    isCurrent: z.boolean().meta({ description: "Whether this node handled the request." }),
  })
  .meta({ id: "Node" });
export type Node = z.infer<typeof node>;

export const tenant = z
  .object({
    id: tenantName,
    maxActive: z.int().nullable().meta({
      description: "Maximum number of the tenant's sessions that nodes own at the same time. Null: no limit.",
    }),
    maxWaiting: z.int().nullable().meta({
      description:
        "Maximum number of the tenant's sessions that wait for a node. Further requests are rejected with `too_many_waiting`. Null: no limit.",
    }),
    weight: z.int().meta({ description: "Share of the free capacity, relative to other tenants." }),
    active: z.int().meta({ description: "Number of the tenant's sessions that nodes own." }),
    waiting: z
      .int()
      .meta({ description: "Number of the tenant's sessions that have work and wait for a node." }),
  })
  .meta({ id: "Tenant" });
export type Tenant = z.infer<typeof tenant>;

export const tenantLimits = z
  .strictObject({
    maxActive: z.int().min(0).nullable().default(null),
    maxWaiting: z.int().min(0).nullable().default(null),
    weight: z.int().min(1).max(1000).default(1),
  })
  .meta({ id: "TenantLimits", description: "Limits that are omitted are removed." });
export type TenantLimits = z.infer<typeof tenantLimits>;
