import type { JsonValue, StartThreadOptions } from "codexkit";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import type { CodexProviderConfig } from "./read-provider-config.ts";

export type SandboxLevel = "read-only" | "workspace-write" | "full-access";

export interface SandboxPlan {
  readonly level: SandboxLevel;
  readonly thread: Pick<StartThreadOptions, "sandbox" | "permissions">;
  /** Part of the thread's config. */
  readonly config: { readonly permissions?: JsonValue };
  readonly ignored: readonly IgnoredField[];
}

const PROFILE = "codexkit";

const BASES = { "read-only": ":read-only", "workspace-write": ":workspace" } as const;

/**
 * The sandbox for commands. If an approved command fails in a plain sandbox, Codex runs it again without the sandbox, and does
 * not ask. It does not do so with a profile that hides a file, so every sandbox here hides some of Codex's own files.
 *
 * @param hidden At least one file. All must exist: for a missing one, Codex creates a file to mount on, and removes it while the
 * next sandbox starts.
 */
export function planSandbox(
  { sandboxEnabled = true, sandboxLevel = sandboxEnabled ? "workspace-write" : "full-access" }: AgentSpec,
  { networkAccess, writableRoots = [] }: CodexProviderConfig,
  hidden: readonly string[],
): SandboxPlan {
  const level = sandboxEnabled ? sandboxLevel : "full-access";
  const reason = "sandboxEnabled is false, so there is no sandbox";
  const ignored: IgnoredField[] = level === sandboxLevel ? [] : [{ field: "sandboxLevel", reason }];
  if (level === "full-access") {
    return { level, thread: { sandbox: "danger-full-access" }, config: {}, ignored };
  }
  const filesystem = Object.fromEntries([
    ...writableRoots.map((path) => [path, "write"] as const),
    ...hidden.map((path) => [path, "deny"] as const),
  ]);
  const network = networkAccess === undefined ? {} : { network: { enabled: networkAccess } };
  return {
    level,
    thread: { permissions: PROFILE },
    config: { permissions: { [PROFILE]: { extends: BASES[level], filesystem, ...network } } },
    ignored,
  };
}
