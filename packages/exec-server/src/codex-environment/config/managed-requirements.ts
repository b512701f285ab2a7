import * as z from "zod";
import { configFailure } from "./config-file.ts";
import { type TomlTable, type TomlValue, tableOf } from "./project-toml.ts";

const granular = z.object({
  sandbox_approval: z.boolean(),
  rules: z.boolean(),
  skill_approval: z.boolean().default(false),
  request_permissions: z.boolean().default(false),
  mcp_elicitations: z.boolean(),
});

/** The settings of an administrator's `managed_config.toml` that are binding. */
const binding = z.object({
  approval_policy: z
    .union([z.enum(["untrusted", "on-failure", "on-request", "never"]), z.object({ granular })])
    .optional(),
  approvals_reviewer: z.enum(["user", "auto_review", "guardian_subagent"]).optional(),
  sandbox_mode: z.enum(["read-only", "workspace-write", "danger-full-access"]).optional(),
});

/**
 * Converts an old `managed_config.toml` to requirements. The old file sets the one allowed value;
 * requirements list all allowed values. Users may always review approvals themselves, and read-only mode is
 * always allowed.
 */
export function managedRequirements(managed: TomlTable): TomlTable {
  const read = binding.safeParse(managed);
  if (!read.success) {
    const why = read.error.issues[0]?.message ?? "invalid settings";
    throw configFailure(`Failed to parse config requirements as TOML: ${why}`);
  }
  const { approval_policy: policy, approvals_reviewer: reviewer, sandbox_mode: mode } = read.data;
  const requirements: [string, TomlValue][] = [];
  if (policy !== undefined) requirements.push(["allowed_approval_policies", [policy]]);
  if (reviewer !== undefined) {
    requirements.push([
      "allowed_approvals_reviewers",
      reviewer === "user" ? ["user"] : ["auto_review", "user"],
    ]);
  }
  if (mode !== undefined) {
    requirements.push(["allowed_sandbox_modes", [...new Set(["read-only", mode])]]);
  }
  return tableOf(requirements);
}
