import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { z } from "zod";
import { decisionSchema } from "./decisions.ts";
import { because, openApproval } from "./open-approval.ts";
import type { Answer, OpenRequest, ReadContext } from "./open-request.ts";
import { clampGrant, permissionGrantSchema } from "./permission-grant.ts";

/** Codex wants more rights for what it does next. */
export interface PermissionsApproval {
  readonly kind: "permissions";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly cwd: string;
  readonly reason: string | undefined;
  /** What is asked for; `decisions.grant(…)` gives a part of it. */
  readonly permissions: v2.RequestPermissionProfile;
  /** The request as it came. */
  readonly params: v2.PermissionsRequestApprovalParams;
}

const answerSchema = z.union([decisionSchema, permissionGrantSchema]);

export function openPermissionsApproval(
  params: v2.PermissionsRequestApprovalParams,
  { requestId }: ReadContext,
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
  return openApproval({
    approval,
    slot: "permissionsApproval",
    read: (wanted, reason) => ({ ...answer(permissions, answerSchema.parse(wanted)), ...because(reason) }),
    refuse: (reason) => ({ ...answer(permissions, "decline"), reason }),
  });
}

function answer(asked: v2.RequestPermissionProfile, wanted: z.infer<typeof answerSchema>): Answer {
  if (wanted === "decline" || wanted === "cancel") {
    // There is no word for no: a grant of nothing is it.
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
