import {
  definePolicy,
  evaluatePolicy,
  type PolicyEvaluation,
  type Policy,
  type PresetName,
} from "@codexkit/approvals";
import type { SessionSettings } from "../api/settings.ts";
import { NO_RULES, type RememberedRules } from "./remembered-rules.ts";

/** The settings of a session that decide about its commands. */
export type PolicySettings = Pick<SessionSettings, "permissionMode" | "agentMode" | "approvalPolicy">;

/** The policy that answers approvals of a session before a person is asked. */
export function sessionPolicy(
  settings: PolicySettings,
  cwd: string,
  { allow, deny }: RememberedRules = NO_RULES,
): Policy {
  const preset = presetOf(settings);
  // The sandbox enforces these modes. What leaves it is a person's decision, so that no preset denies by itself.
  return definePolicy({
    preset,
    workspace: cwd,
    deny,
    additionalAllow: allow,
    ...(preset === "read-only" ? { default: "ask" } : {}),
  });
}

function presetOf({ permissionMode, agentMode, approvalPolicy }: PolicySettings): PresetName {
  // A chat and a plan change nothing, whatever mode they were switched from.
  if (agentMode !== "build") return "read-only";
  // A person who wants to be asked about everything that is not known to be safe gets only reads answered.
  return approvalPolicy === "untrusted" && permissionMode === "workspace-write"
    ? "read-only"
    : permissionMode;
}

/** Judges a command as the session's policy would, without running anything. */
export function testCommand(
  settings: PolicySettings,
  { cwd, command }: { readonly cwd: string; readonly command: string },
): PolicyEvaluation {
  return evaluatePolicy(sessionPolicy(settings, cwd), { kind: "command", command, cwd });
}
