/** Limits of workspaces and their snapshots. */
export const WORKSPACE_LIMITS = {
  /** Bytes that all mounts together may copy, unless the caller says otherwise. */
  mountBytes: 256 * 1024 * 1024,
  /** Files of one workspace. A snapshot looks up each of them. */
  files: 200_000,
  /** Bytes of all files that a workspace's snapshots store. */
  snapshotBytes: 2 * 1024 * 1024 * 1024,
  /** How long a scan may block the event loop at a time. */
  sliceMs: 4,
  /** Threads of a scan, if there are as many cores. */
  scanThreads: 4,
  /** Smallest number of files that several threads scan. */
  parallelFiles: 2_000,
  /** Entries in a preview for the prompt. */
  previewEntries: 20,
  /** How often a file is read again because it changed while it was read. */
  readAttempts: 3,
  /** How long the state of an interrupted transaction is kept for its workspace. */
  interruptedDays: 30,
} as const;
