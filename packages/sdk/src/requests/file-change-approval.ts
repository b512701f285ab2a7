import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { decisionSchema } from "./decisions.ts";
import { withReason, createApproval } from "./create-approval.ts";
import type { OpenRequest, ParseContext } from "./open-request.ts";

/** Codex asks to change files that the sandbox does not allow. */
export interface FileChangeApproval {
  readonly kind: "fileChange";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly reason: string | undefined;
  /** A folder that stays writable for the session if the change is accepted. */
  readonly grantRoot: string | undefined;
  /** The changes with their diffs. They come from the item, if its start was received, because the request has none. */
  readonly changes: readonly v2.FileUpdateChange[] | undefined;
  readonly item: v2.ThreadItem | undefined;
  /** The request as received. */
  readonly params: v2.FileChangeRequestApprovalParams;
}

export function parseFileChangeApproval(
  params: v2.FileChangeRequestApprovalParams,
  { requestId, itemFor }: ParseContext,
): OpenRequest {
  const { threadId, turnId, itemId } = params;
  const item = itemFor(threadId, itemId);
  const approval: FileChangeApproval = {
    kind: "fileChange",
    requestId,
    threadId,
    turnId,
    itemId,
    reason: params.reason ?? undefined,
    grantRoot: params.grantRoot ?? undefined,
    changes: item?.type === "fileChange" ? item.changes : undefined,
    item,
    params,
  };
  return createApproval({
    approval,
    handler: "fileChangeApproval",
    parse: (wanted, reason) => {
      const decision = decisionSchema.parse(wanted);
      return { response: { decision }, decision, ...withReason(reason) };
    },
    refuse: (reason) => ({ response: { decision: "decline" }, decision: "decline", reason }),
  });
}
