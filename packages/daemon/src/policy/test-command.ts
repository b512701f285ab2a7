import { definePolicy, evaluate, type Evaluation, type Policy } from "@codexkit/approvals";
import type { SessionSettings } from "../api/settings.ts";

/** The settings of a session that decide about its commands. */
export type PolicySettings = Pick<SessionSettings, "permissionMode" | "agentMode">;

/** The policy that answers approvals of a session before a person is asked. */
export function sessionPolicy({ permissionMode, agentMode }: PolicySettings, cwd: string): Policy {
  // A chat changes nothing, whatever mode it was switched from.
  const preset = agentMode === "chat" ? "read-only" : permissionMode;
  // The sandbox enforces these modes. What leaves it is a person's decision, so that no preset denies by itself.
  return definePolicy({ preset, workspace: cwd, ...(preset === "read-only" ? { default: "ask" } : {}) });
}

/** Judges a command as the session's policy would, without running anything. */
export function testCommand(
  settings: PolicySettings,
  { cwd, command }: { readonly cwd: string; readonly command: string },
): Evaluation {
  return evaluate(sessionPolicy(settings, cwd), { kind: "command", command, cwd });
}
