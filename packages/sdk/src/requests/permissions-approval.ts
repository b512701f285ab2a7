import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { z } from "zod";
import { decisionSchema } from "./decisions.ts";
import { withReason, createApproval } from "./create-approval.ts";
import type { Answer, OpenRequest, ParseContext } from "./open-request.ts";
import { clampGrant, permissionGrantSchema } from "./permission-grant.ts";

/** Codex asks for additional permissions. */
export interface PermissionsApproval {
  readonly kind: "permissions";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly cwd: string;
  readonly reason: string | undefined;
  /** The requested permissions. `decisions.grant(…)` grants a part of them. */
  readonly permissions: v2.RequestPermissionProfile;
  /** The request as received. */
  readonly params: v2.PermissionsRequestApprovalParams;
}

const answerSchema = z.union([decisionSchema, permissionGrantSchema]);

export function parsePermissionsApproval(
  params: v2.PermissionsRequestApprovalParams,
  { requestId }: ParseContext,
): OpenRequest {
  const { threadId, turnId, itemId, cwd, permissions } = params;
  const approval: PermissionsApproval = {
    kind: "permissions",
    requestId,
    threadId,
    turnId,
    itemId,
    cwd,
    reason: params.reason ?? undefined,
    permissions,
    params,
  };
  return createApproval({
    approval,
    handler: "permissionsApproval",
    parse: (wanted, reason) => ({
      ...answer(permissions, answerSchema.parse(wanted)),
      ...withReason(reason),
    }),
    refuse: (reason) => ({ ...answer(permissions, "decline"), reason }),
  });
}

function answer(asked: v2.RequestPermissionProfile, wanted: z.infer<typeof answerSchema>): Answer {
  if (wanted === "decline" || wanted === "cancel") {
    // The response has no denial; an empty grant is one.
    return { response: { permissions: {}, scope: "turn" }, decision: wanted };
  }
  if (typeof wanted === "string") {
    const scope = wanted === "acceptForSession" ? "session" : "turn";
    return { response: { permissions: clampGrant(asked, asked), scope }, decision: wanted };
  }
  const response: v2.PermissionsRequestApprovalResponse = {
    permissions: clampGrant(asked, wanted.permissions),
    scope: wanted.scope ?? "turn",
    ...(wanted.strictAutoReview !== undefined && { strictAutoReview: wanted.strictAutoReview }),
  };
  return { response, decision: response };
}
