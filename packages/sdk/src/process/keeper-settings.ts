import { z } from "zod";

/** What a keeper is told on its stdin: not on its command line, which other users can read. */
export const keeperSettings = z.object({
  command: z.string(),
  args: z.array(z.string()),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string()),
  mark: z.uuid(),
  ownersFolder: z.string(),
  /** The private folder of this server, removed at its end. */
  folder: z.string(),
  /** Where clients connect. */
  socketPath: z.string(),
  /** Where codex listens, inside the folder. */
  codexSocketPath: z.string(),
  /** How long the server stays without a client. */
  graceMs: z.number().positive(),
  limits: z.record(z.string(), z.number()),
});

export type KeeperSettings = z.infer<typeof keeperSettings>;

/** The one line that a keeper prints on its stdout, when clients can connect. */
export const keeperReady = z.object({ codexPid: z.int() });
