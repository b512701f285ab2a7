import type { v2 } from "codexkit";
import type { SessionSettings } from "./settings.ts";

/** The settings that Codex enforces for a permission mode. */
export interface ThreadPermissions {
  readonly sandbox: v2.SandboxMode;
  readonly approvalPolicy: v2.AskForApproval;
}

/** What Codex's model is told in chat mode, which Codex itself doesn't have. */
export const CHAT_INSTRUCTIONS =
  "You are in chat mode: answer the user's questions. You may read files and run commands that only read, but don't change " +
  "files, settings or anything outside this conversation. If a change is needed, describe it instead.";

/**
 * Maps the modes of a session to Codex's settings. In `danger-full-access` Codex has no sandbox, so a policy evaluates every
 * command, and Codex must ask about all of them. `bypass` asks about nothing. Codex's plan mode only instructs the model, so the
 * read-only sandbox enforces it; if no person can be asked, nothing may leave the sandbox.
 */
export function permissionsOf({
  permissionMode,
  agentMode,
  approvalPolicy,
}: Pick<SessionSettings, "permissionMode" | "agentMode" | "approvalPolicy">): ThreadPermissions {
  if (agentMode === "chat") return { sandbox: "read-only", approvalPolicy: "never" };
  const isUnattended = permissionMode === "bypass" || permissionMode === "danger-full-access";
  if (agentMode === "plan") {
    return { sandbox: "read-only", approvalPolicy: isUnattended ? "never" : approvalPolicy };
  }
  if (permissionMode === "bypass") return { sandbox: "danger-full-access", approvalPolicy: "never" };
  if (permissionMode === "danger-full-access") {
    return { sandbox: "danger-full-access", approvalPolicy: "untrusted" };
  }
  return { sandbox: permissionMode, approvalPolicy };
}

/** Maps the mode of the agent to Codex's collaboration mode, which applies to the next turn and all later ones. */
export function toCollaborationMode(
  agentMode: SessionSettings["agentMode"],
  { model, effort }: Pick<v2.ThreadSettings, "model" | "effort">,
): v2.ThreadSettings["collaborationMode"] {
  return {
    mode: agentMode === "plan" ? "plan" : "default",
    settings: {
      model,
      reasoning_effort: effort,
      developer_instructions: agentMode === "chat" ? CHAT_INSTRUCTIONS : null,
    },
  };
}
