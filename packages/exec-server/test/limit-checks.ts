import type { ServerLimits } from "../src/limits.ts";

/** A check for each limit. The type lists all of them, so that none is left out. */
export type LimitChecks<Key extends string> = Readonly<Record<Key, () => Promise<void>>>;

/** Limits of a server that concern its sandboxes. */
export type SandboxLimit = Extract<
  keyof ServerLimits,
  `sandbox${string}` | "busySandboxHelpers" | `denyScan${string}` | "deniedMatches"
>;

export const shell = (script: string): [string, ...string[]] => ["/bin/sh", "-c", script];
