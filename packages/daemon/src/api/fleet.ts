import { z } from "zod";
import { tenantName, timestamp } from "./parameters.ts";

/** A boot of a daemon, as the others see it. */
export const node = z
  .object({
    id: z.string().meta({ description: "Of this start of the daemon. Another one has another ID." }),
    name: z.string().meta({ description: "The same for all starts of the daemon." }),
    url: z.string().nullable().meta({
      description:
        "Where the other nodes reach it. Null: they can't, and what needs its machine works there only.",
    }),
    state: z.enum(["up", "draining", "lost"]).meta({
      description:
        "up: runs sessions. draining: hands its sessions over. lost: its lease has ended; sessions that need it wait for it.",
    }),
    labels: z.array(z.string()),
    capacity: z.int().meta({ description: "Sessions that it owns at most." }),
    sessions: z.int().meta({ description: "Sessions that it owns, or that need it if it is lost." }),
    runningTurns: z.int().meta({ description: "As of its newest renewal." }),
    leaseUntil: timestamp,
    version: z.string(),
    codexVersion: z.string(),
    startedAt: timestamp,
    isCurrent: z.boolean().meta({ description: "Whether it has answered this request." }),
  })
  .meta({ id: "Node" });
export type Node = z.infer<typeof node>;

export const tenant = z
  .object({
    id: tenantName,
    maxActive: z.int().nullable().meta({ description: "Sessions that nodes own at once. Null: no limit." }),
    maxWaiting: z.int().nullable().meta({
      description: "Sessions that wait for a node at once: one more is `too_many_waiting`. Null: no limit.",
    }),
    weight: z.int().meta({ description: "Its share of free nodes, compared with that of others." }),
    active: z.int().meta({ description: "Sessions that nodes own." }),
    waiting: z.int().meta({ description: "Sessions that have something to do and no node." }),
  })
  .meta({ id: "Tenant" });
export type Tenant = z.infer<typeof tenant>;

export const tenantLimits = z
  .strictObject({
    maxActive: z.int().min(0).nullable().default(null),
    maxWaiting: z.int().min(0).nullable().default(null),
    weight: z.int().min(1).max(1000).default(1),
  })
  .meta({ id: "TenantLimits", description: "A limit that is left out is removed." });
export type TenantLimits = z.infer<typeof tenantLimits>;
