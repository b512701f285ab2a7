import type { Policy } from "@codexkit/approvals";
import type { SandboxMode, ThreadCommandOptions } from "./thread-options.ts";

/**
 * Loads the policy of `--policy` and `--allow`. Without a file, uses the preset with the same name as the
 * sandbox.
 */
export async function loadPolicy(
  { policy: file, allow = [], sandbox = "workspace-write", mode = "build" }: ThreadCommandOptions,
  cwd: string,
): Promise<Policy> {
  const { createPolicy, readPolicyFile } = await import("../policy/read-policy-file.ts");
  if (file !== undefined) return readPolicyFile(file, { workspace: cwd, allow });
  const preset: SandboxMode = mode === "build" ? sandbox : "read-only";
  return createPolicy({ preset, workspace: cwd, additionalAllow: [...allow] }, "--allow");
}
