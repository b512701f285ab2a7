import type { Policy } from "@codexkit/approvals";
import type { ServerRequestHandlers } from "codexkit";

/** Functions that answer Codex's requests. Requests without a handler, and those that a handler passes on, go to a person. */
export type CodexHandlers = Omit<ServerRequestHandlers, "toolCall">;

/** The names of all handlers, as values. */
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

/** Who answers Codex's requests in a call. */
export interface ApprovalSettings {
  /** Decides which requests are answered without asking a person. Without a policy, a person is asked about all of them. */
  readonly policy?: Policy | (() => Policy) | undefined;
  readonly handlers?: CodexHandlers | undefined;
  /** How long a person may take. */
  readonly suspendTimeoutMs: number;
}
