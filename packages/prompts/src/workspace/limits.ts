/** Limits of workspaces and their snapshots. */
export const WORKSPACE_LIMITS = {
  /** Default limit for the bytes that all mounts together may copy. */
  mountBytes: 256 * 1024 * 1024,
  /** Maximum number of files in a workspace. A snapshot looks up each of them. */
  files: 200_000,
  /** Maximum bytes that a workspace's snapshots store. */
  snapshotBytes: 2 * 1024 * 1024 * 1024,
  /** How long a scan may block the event loop at a time. */
  sliceMs: 4,
  /** Maximum threads per scan. Not more than there are cores. */
  scanThreads: 4,
  /** Minimum number of files for which several threads are used. */
  parallelFiles: 2_000,
  /** Maximum number of entries in a preview for the prompt. */
  previewEntries: 20,
  /** How often reading a file is attempted if it changes while it is read. */
  readAttempts: 3,
  /** How long the state of an interrupted transaction is kept. */
  interruptedDays: 30,
} as const;
