import {
  definePolicy,
  evaluatePolicy,
  type PolicyEvaluation,
  type Policy,
  type PresetName,
} from "@codexkit/approvals";
import type { SessionSettings } from "../api/settings.ts";
import { NO_RULES, type RememberedRules } from "./remembered-rules.ts";

/** The settings of a session that its command policy depends on. */
export type PolicySettings = Pick<SessionSettings, "permissionMode" | "agentMode" | "approvalPolicy">;

/** Creates the policy that answers approvals of a session before a person is asked. */
export function sessionPolicy(
  settings: PolicySettings,
  cwd: string,
  { allow, deny }: RememberedRules = NO_RULES,
): Policy {
  const preset = presetOf(settings);
  // The sandbox enforces these modes. Commands that leave the sandbox need a person's decision, so no preset denies
  // anything by itself.
  return definePolicy({
    preset,
    workspace: cwd,
    deny,
    additionalAllow: allow,
    ...(preset === "read-only" ? { default: "ask" } : {}),
  });
}

function presetOf({ permissionMode, agentMode, approvalPolicy }: PolicySettings): PresetName {
  // A chat and a plan are read-only, regardless of the permission mode.
  if (agentMode !== "build") return "read-only";
  // With `untrusted`, only reads are allowed without asking.
  return approvalPolicy === "untrusted" && permissionMode === "workspace-write"
    ? "read-only"
    : permissionMode;
}

/** Evaluates a command with the session's policy, without running it. */
export function testCommand(
  settings: PolicySettings,
  { cwd, command }: { readonly cwd: string; readonly command: string },
): PolicyEvaluation {
  return evaluatePolicy(sessionPolicy(settings, cwd), { kind: "command", command, cwd });
}
