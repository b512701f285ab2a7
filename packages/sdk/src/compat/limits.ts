/** Limits of the shared codex processes. Starting a new one takes 0.1 s. */
export const COMPAT_LIMITS = {
  /** Maximum number of idle servers. The least recently used one is closed first. */
  idleServers: 3,
  /** How long an idle server is kept. */
  idleMs: 10_000,
  /** How long the server may take to answer a call before it is replaced. */
  callTimeoutMs: 30_000,
  /** How long the server may take to stop a turn before it is killed. It usually takes milliseconds. */
  stopTimeoutMs: 10_000,
  /** How long the server may take to unload a thread. It usually takes milliseconds, longer if MCP servers are slow to end. */
  unloadTimeoutMs: 4_000,
};
