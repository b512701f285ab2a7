import type { v1 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { z } from "zod";
import { type AnyDecision, decisionSchema, type LegacyDecision } from "./decisions.ts";
import { withReason, createApproval } from "./create-approval.ts";
import type { Answer, OpenRequest, ParseContext } from "./open-request.ts";

// Codex 0.166 still defines these two requests of the first protocol, but sends current clients the newer ones.

/** Approval of a command in the first protocol. */
export interface LegacyCommandApproval {
  readonly kind: "legacyCommand";
  readonly requestId: RequestId;
  readonly threadId: string;
  /** Not part of the first protocol. */
  readonly turnId: null;
  readonly itemId: string;
  readonly command: readonly string[];
  readonly cwd: string;
  readonly reason: string | undefined;
  readonly params: v1.ExecCommandApprovalParams;
}

/** Approval of a patch in the first protocol. */
export interface LegacyPatchApproval {
  readonly kind: "legacyPatch";
  readonly requestId: RequestId;
  readonly threadId: string;
  /** Not part of the first protocol. */
  readonly turnId: null;
  readonly itemId: string;
  readonly changes: v1.ApplyPatchApprovalParams["fileChanges"];
  readonly reason: string | undefined;
  readonly params: v1.ApplyPatchApprovalParams;
}

const amendment = z.object({ host: z.string(), action: z.enum(["allow", "deny"]) });
const legacyDecisionSchema: z.ZodType<LegacyDecision> = z.union([
  decisionSchema,
  z.enum(["approved", "approved_for_session", "approved_mcp_policy_amendment", "timed_out", "abort"]),
  z.strictObject({ denied: z.object({ rejection: z.string() }) }),
  z.strictObject({
    approved_execpolicy_amendment: z.object({ proposed_execpolicy_amendment: z.array(z.string()) }),
  }),
  z.strictObject({ network_policy_amendment: z.object({ network_policy_amendment: amendment }) }),
]);

export function parseLegacyCommandApproval(
  params: v1.ExecCommandApprovalParams,
  { requestId }: ParseContext,
): OpenRequest {
  const { conversationId: threadId, callId: itemId, command, cwd } = params;
  const reason = params.reason ?? undefined;
  const approval: LegacyCommandApproval = {
    kind: "legacyCommand",
    requestId,
    threadId,
    turnId: null,
    itemId,
    command,
    cwd,
    reason,
    params,
  };
  return createApproval({ approval, handler: "execCommandApproval", ...legacyAnswers });
}

export function parseLegacyPatchApproval(
  params: v1.ApplyPatchApprovalParams,
  { requestId }: ParseContext,
): OpenRequest {
  const { conversationId: threadId, callId: itemId, fileChanges: changes } = params;
  const reason = params.reason ?? undefined;
  const approval: LegacyPatchApproval = {
    kind: "legacyPatch",
    requestId,
    threadId,
    turnId: null,
    itemId,
    changes,
    reason,
    params,
  };
  return createApproval({ approval, handler: "applyPatchApproval", ...legacyAnswers });
}

const legacyAnswers = {
  parse: (wanted: unknown, reason: string | undefined) => answer(legacyDecisionSchema.parse(wanted), reason),
  refuse: (reason: string) => answer("decline", reason),
};

function answer(decision: LegacyDecision & AnyDecision, reason: string | undefined): Answer {
  const response = { decision: toReviewDecision(decision, reason ?? "Declined.") };
  return { response, decision, ...withReason(reason) };
}

function toReviewDecision(decision: LegacyDecision, rejection: string): v1.ReviewDecision {
  switch (decision) {
    case "accept":
      return "approved";
    case "acceptForSession":
      return "approved_for_session";
    case "decline":
      return { denied: { rejection } };
    case "cancel":
      return "abort";
    default:
      return decision;
  }
}
