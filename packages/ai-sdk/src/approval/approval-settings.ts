import type { Policy } from "@codexkit/approvals";
import type { ServerRequestHandlers } from "codexkit";

/** What a program answers by itself. What it has no handler for, and what it passes on, is asked of a person. */
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

/** Who answers what Codex asks for in a call. */
export interface ApprovalSettings {
  /** Decides what needs no person; without one, everything that Codex asks for does. */
  readonly policy?: Policy | (() => Policy) | undefined;
  readonly handlers?: CodexHandlers | undefined;
  /** How long a person may take. */
  readonly parkedTurnMs: number;
}
