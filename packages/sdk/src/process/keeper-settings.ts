// Types instead of schemas, because a keeper must not wait for zod to load. Both ends are of the same release, over private pipes.

/** Settings of a keeper: the first line of its stdin, because other users can read command lines. */
export interface KeeperSettings {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly mark: string;
  readonly ownersFolder: string;
  /** The server's private folder, removed when it ends. */
  readonly folder: string;
  /** Socket for clients. */
  readonly socketPath: string;
  /** Socket of codex, inside the folder. */
  readonly codexSocketPath: string;
  /** How long the server keeps running without a client. */
  readonly graceMs: number;
  readonly limits: Readonly<Record<string, number>>;
}

/** Names of the sockets in a keeper's folder. */
export const KEEPER_SOCKETS = { keeper: "app-server.sock", codex: "codex.sock" } as const;

/**
 * The second line of its stdin. From then on the server outlives the launching program. If stdin ends earlier, so does the server.
 */
export const KEEP = "keep";

/** The line that a keeper prints to stdout when clients can connect. */
export interface KeeperReady {
  readonly codexPid: number;
}
