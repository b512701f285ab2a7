import { z } from "zod";
import { tenantName, timestamp } from "./parameters.ts";

/** A boot of a daemon, as the others see it. */
export const node = z
  .object({
    id: z.string().meta({ description: "ID of this boot of the daemon. It changes with every start." }),
    name: z.string().meta({ description: "Name of the daemon. The same for all its boots." }),
    url: z.string().nullable().meta({
      description:
        "Where the other nodes reach it. Null: they can't, and what needs its machine works there only.",
    }),
    state: z.enum(["up", "draining", "lost"]).meta({
      description:
        "up: runs sessions. draining: hands its sessions over. lost: its lease has ended; sessions that need it wait for it.",
    }),
    labels: z.array(z.string()),
    capacity: z.int().meta({ description: "Maximum number of sessions that it owns." }),
    sessions: z.int().meta({
      description: "Number of sessions that it owns. For a lost node, also those that can run nowhere else.",
    }),
    runningTurns: z.int().meta({ description: "Number of running turns, as of its newest renewal." }),
    leaseUntil: timestamp,
    version: z.string(),
    codexVersion: z.string(),
    startedAt: timestamp,
    isCurrent: z.boolean().meta({ description: "Whether this node has answered the request." }),
  })
  .meta({ id: "Node" });
export type Node = z.infer<typeof node>;

export const tenant = z
  .object({
    id: tenantName,
    maxActive: z
      .int()
      .nullable()
      .meta({ description: "Maximum number of sessions that nodes own at the same time. Null: no limit." }),
    maxWaiting: z.int().nullable().meta({
      description:
        "Maximum number of sessions that wait for a node. Beyond it, requests get `too_many_waiting`. Null: no limit.",
    }),
    weight: z.int().meta({ description: "Its share of the free capacity, relative to other tenants." }),
    active: z.int().meta({ description: "Number of sessions that nodes own." }),
    waiting: z.int().meta({ description: "Number of sessions with work that wait for a node." }),
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
