import { z } from "zod";
import { timestamp } from "./parameters.ts";

const entry = z.record(z.string(), z.unknown());

/** Diagnostic information about a session, for finding the cause of a problem. */
export const debugBundle = z
  .object({
    createdAt: timestamp,
    versions: z.object({
      codexkit: z.string(),
      codex: z.string().meta({ description: "Version of Codex that this daemon runs." }),
      codexOfSession: z
        .string()
        .nullable()
        .meta({ description: "Version of Codex that last wrote the thread." }),
      node: z.string(),
      platform: z.string(),
    }),
    session: entry,
    setup: entry.meta({ description: "MCP servers, environment and tools. Their secrets are masked." }),
    configuration: z
      .object({
        file: entry.nullable().meta({ description: "`config.toml` of the daemon's Codex home." }),
        codex: entry.meta({ description: "How the daemon launches codex." }),
        roots: z.array(z.string()),
        sharedRoots: z.record(z.string(), z.string()),
        limits: entry.meta({ description: "Limits that differ from the defaults, by group." }),
      })
      .meta({ description: "Configuration of Codex and the daemon. Secrets are masked." }),
    owner: z.object({
      nodeId: z.string().nullable(),
      readyAt: timestamp
        .nullable()
        .meta({ description: "Time since which the session has had work for an owner." }),
      needs: z.array(z.string()),
    }),
    events: z
      .array(entry)
      .meta({ description: "The newest 200 events, oldest first. Long events are truncated." }),
    commands: z.array(entry).meta({ description: "The newest 100 commands with their states." }),
    inbox: z.array(entry).meta({ description: "The newest 50 approvals and questions." }),
    rollouts: z.array(entry).meta({ description: "The stored rollout files of the thread." }),
    codex: z.object({
      appServers: z.array(entry).meta({ description: "The app-servers that are running the session." }),
      stderr: z.string().meta({
        description:
          "The last 128 KiB of the app-server's standard error, available even after it has crashed.",
      }),
    }),
    environment: z.record(z.string(), z.string()).meta({
      description: "Environment variables of Codex. Values are masked unless they are known to be harmless.",
    }),
    daemon: entry.meta({ description: "State of this daemon, the store and all nodes." }),
  })
  .meta({ id: "DebugBundle" });
export type DebugBundle = z.infer<typeof debugBundle>;
