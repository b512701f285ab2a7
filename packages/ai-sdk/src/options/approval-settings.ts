import type { Policy } from "@codexkit/approvals";
import type { ServerRequestHandlers } from "codexkit";

/** Functions that answer Codex's requests. A person answers requests that have no handler or whose handler returns "pass". */
export type CodexHandlers = Omit<ServerRequestHandlers, "toolCall">;

/** The names of all handlers. */
export const HANDLER_NAMES: Readonly<Record<keyof CodexHandlers, true>> = {
  approve: true,
  commandApproval: true,
  fileChangeApproval: true,
  permissionsApproval: true,
  mcpToolApproval: true,
  userInput: true,
  elicitation: true,
  refreshAuthTokens: true,
  attestation: true,
  currentTime: true,
  execCommandApproval: true,
  applyPatchApproval: true,
};

/** How Codex's requests are answered in a call. */
export interface ApprovalSettings {
  /** Decides which requests are answered automatically. Without a policy, a person is asked about every request. */
  readonly policy?: Policy | (() => Policy) | undefined;
  readonly handlers?: CodexHandlers | undefined;
  /** How long a person may take to answer. */
  readonly suspendTimeoutMs: number;
}
