import { z } from "zod";
import { timestamp } from "./parameters.ts";

const entry = z.record(z.string(), z.unknown());

/** What a person who looks for a defect needs to know of a session. */
export const debugBundle = z
  .object({
    createdAt: timestamp,
    versions: z.object({
      codexkit: z.string(),
      codex: z.string().meta({ description: "The version that this daemon runs." }),
      codexOfSession: z.string().nullable().meta({ description: "The version that wrote the thread last." }),
      node: z.string(),
      platform: z.string(),
    }),
    session: entry,
    setup: entry.meta({ description: "MCP servers, environment and tools. Their secrets are masked." }),
    owner: z.object({
      nodeId: z.string().nullable(),
      readyAt: timestamp.nullable().meta({ description: "Since when there is work for an owner." }),
      needs: z.array(z.string()),
    }),
    events: z.array(entry).meta({ description: "The newest 200 events, oldest first. Long ones are cut." }),
    commands: z.array(entry).meta({ description: "The newest 100 commands with their states." }),
    inbox: z.array(entry).meta({ description: "The newest 50 approvals and questions." }),
    rollouts: z.array(entry).meta({ description: "The files of the thread that are stored." }),
    codex: z.object({
      appServers: z.array(entry).meta({ description: "Those that run the session now." }),
      stderr: z.string().meta({
        description: "The last 128 KiB of what the session's app-server has printed, also if it has crashed.",
      }),
    }),
    environment: z.record(z.string(), z.string()).meta({
      description: "Variables of codex. Values are masked unless they are known to be harmless.",
    }),
    daemon: entry.meta({ description: "State of this daemon, its store and all nodes." }),
  })
  .meta({ id: "DebugBundle" });
export type DebugBundle = z.infer<typeof debugBundle>;
