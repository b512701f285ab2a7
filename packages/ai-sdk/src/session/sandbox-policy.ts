import type { v2 } from "codexkit";
import type { CodexLanguageModelOptions, SandboxPolicyOption } from "../options/options.ts";

type WorkspaceWrite = Readonly<Record<string, unknown>>;

/**
 * Returns the turn's sandbox policy. It replaces the thread's policy completely, so it includes the configured settings for
 * `workspace-write`, such as network access.
 */
export function turnSandbox(
  {
    sandbox,
    sandboxPolicy,
    config = {},
  }: Pick<CodexLanguageModelOptions, "sandbox" | "sandboxPolicy" | "config">,
  serverDefaults: WorkspaceWrite,
): v2.SandboxPolicy | undefined {
  if (sandboxPolicy !== undefined) return completePolicy(sandboxPolicy);
  switch (sandbox) {
    case undefined:
      return undefined;
    case "read-only":
      return { type: "readOnly", networkAccess: false };
    case "workspace-write":
      return workspaceWrite({ ...serverDefaults, ...configuredFor(config) });
    case "danger-full-access":
      return { type: "dangerFullAccess" };
  }
}

function completePolicy(policy: SandboxPolicyOption): v2.SandboxPolicy {
  switch (policy.type) {
    case "dangerFullAccess":
      return policy;
    case "readOnly":
      return { type: "readOnly", networkAccess: policy.networkAccess ?? false };
    case "externalSandbox":
      return { type: "externalSandbox", networkAccess: policy.networkAccess ?? "restricted" };
    case "workspaceWrite":
      return {
        type: "workspaceWrite",
        writableRoots: policy.writableRoots ?? [],
        networkAccess: policy.networkAccess ?? false,
        excludeTmpdirEnvVar: policy.excludeTmpdirEnvVar ?? false,
        excludeSlashTmp: policy.excludeSlashTmp ?? false,
      };
  }
}

function workspaceWrite(settings: WorkspaceWrite): v2.SandboxPolicy {
  const roots = settings["writable_roots"];
  return {
    type: "workspaceWrite",
    writableRoots: Array.isArray(roots) ? roots.filter((root) => typeof root === "string") : [],
    networkAccess: settings["network_access"] === true,
    excludeTmpdirEnvVar: settings["exclude_tmpdir_env_var"] === true,
    excludeSlashTmp: settings["exclude_slash_tmp"] === true,
  };
}

const TABLE = "sandbox_workspace_write";

/** Reads the table from a thread's configuration, written as an object or as dotted keys. */
function configuredFor(config: Readonly<Record<string, unknown>>): WorkspaceWrite {
  const table = config[TABLE];
  const dotted = Object.entries(config).flatMap(([key, value]) =>
    key.startsWith(`${TABLE}.`) ? [[key.slice(TABLE.length + 1), value] as const] : [],
  );
  return { ...(typeof table === "object" ? table : {}), ...Object.fromEntries(dotted) };
}
