import type { v2 } from "@codexkit/protocol";
import { realpathSync } from "node:fs";
import { findMainRepository } from "./find-repository.ts";

type Sandbox = Pick<v2.ThreadResumeParams, "sandbox" | "permissions">;

/**
 * Returns the sandbox that the configuration defines for a new thread in a folder. A resumed thread would otherwise keep the
 * sandbox of its last turn. As in `codex exec`, a turn without a sandbox option must not inherit a wider one.
 */
export function getConfiguredSandbox(config: v2.Config, cwd: string): Sandbox {
  if (config.sandbox_mode) return { sandbox: config.sandbox_mode };
  const profile = config["default_permissions"];
  if (typeof profile === "string") return { permissions: profile };
  return { sandbox: hasTrustLevel(config["projects"], cwd) ? "workspace-write" : "read-only" };
}

/** Whether the configuration has a trust level for this folder. With any level, Codex lets the agent write there. */
function hasTrustLevel(projects: unknown, cwd: string): boolean {
  const repository = findMainRepository(cwd);
  const folders = [cwd, realpathSync(cwd), ...(repository ? [repository, realpathSync(repository)] : [])];
  const known = (projects ?? {}) as Record<string, { trust_level?: string } | undefined>;
  return folders.some((folder) => known[folder]?.trust_level !== undefined);
}
