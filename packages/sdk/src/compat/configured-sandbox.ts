import type { v2 } from "@codexkit/protocol";
import { realpathSync } from "node:fs";
import { mainRepositoryOf } from "./repository.ts";

type Sandbox = Pick<v2.ThreadResumeParams, "sandbox" | "permissions">;

/**
 * The sandbox that the configuration gives a new thread in a folder. A thread that is resumed would otherwise keep that of
 * its last turn, and `codex exec` does not let it: a turn without a sandbox in its options must not inherit a wider one.
 */
export function configuredSandbox(config: v2.Config, cwd: string): Sandbox {
  if (config.sandbox_mode) return { sandbox: config.sandbox_mode };
  const profile = config["default_permissions"];
  if (typeof profile === "string") return { permissions: profile };
  return { sandbox: isDecided(config["projects"], cwd) ? "workspace-write" : "read-only" };
}

/** Whether somebody decided to trust this folder or not. Either way Codex lets the agent write there. */
function isDecided(projects: unknown, cwd: string): boolean {
  const repository = mainRepositoryOf(cwd);
  const folders = [cwd, realpathSync(cwd), ...(repository ? [repository, realpathSync(repository)] : [])];
  const known = (projects ?? {}) as Record<string, { trust_level?: string } | undefined>;
  return folders.some((folder) => known[folder]?.trust_level !== undefined);
}
