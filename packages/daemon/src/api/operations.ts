import { z } from "zod";
import { node } from "./fleet.ts";

export const health = z.object({ status: z.literal("ok"), version: z.string() }).meta({ id: "Health" });

export const readiness = z
  .object({
    ready: z.boolean(),
    store: z.enum(["ok", "unavailable"]),
    runner: z.enum(["stopped", "starting", "running", "draining", "closed"]),
  })
  .meta({ id: "Readiness" });

export const diagnostics = z
  .object({
    version: z.string(),
    node: z.string(),
    platform: z.string(),
    uptimeMs: z.int(),
    memoryBytes: z.int(),
    store: z.object({
      kind: z.enum(["sqlite", "postgres"]),
      notifications: z.enum(["local", "listening", "polling"]),
    }),
    runner: z.record(z.string(), z.unknown()),
    nodes: z.array(node),
    streams: z.object({ sessions: z.int(), multiplexed: z.int(), files: z.int(), threads: z.int() }),
    limits: z.record(z.string(), z.number()),
    roots: z.array(z.string()),
  })
  .meta({ id: "Diagnostics" });
