import { z } from "zod";

/** Settings of a keeper: the first line of its stdin, because other users can read command lines. */
export const keeperSettings = z.object({
  command: z.string(),
  args: z.array(z.string()),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()),
  mark: z.uuid(),
  ownersFolder: z.string(),
  /** The server's private folder, removed when it ends. */
  folder: z.string(),
  /** Socket for clients. */
  socketPath: z.string(),
  /** Socket of codex, inside the folder. */
  codexSocketPath: z.string(),
  /** How long the server keeps running without a client. */
  graceMs: z.number().positive(),
  limits: z.record(z.string(), z.number()),
});

export type KeeperSettings = z.infer<typeof keeperSettings>;

/** Names of the sockets in a keeper's folder. */
export const KEEPER_SOCKETS = { keeper: "app-server.sock", codex: "codex.sock" } as const;

/**
 * The second line of its stdin. From then on the server outlives the launching program. If stdin ends earlier, so does the server.
 */
export const KEEP = "keep";

/** The line that a keeper prints to stdout when clients can connect. */
export const keeperReady = z.object({ codexPid: z.int() });
