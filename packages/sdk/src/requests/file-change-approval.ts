import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import { decisionSchema } from "./decisions.ts";
import { because, openApproval } from "./open-approval.ts";
import type { OpenRequest, ReadContext } from "./open-request.ts";

/** Codex wants to change files where the sandbox does not let it. */
export interface FileChangeApproval {
  readonly kind: "fileChange";
  readonly requestId: RequestId;
  readonly threadId: string;
  readonly turnId: string;
  readonly itemId: string;
  readonly reason: string | undefined;
  /** A folder that stays writable for the session if the change is accepted. */
  readonly grantRoot: string | undefined;
  /** The changes with their diffs. The request has none: they are those of the item, if it was seen to start. */
  readonly changes: readonly v2.FileUpdateChange[] | undefined;
  readonly item: v2.ThreadItem | undefined;
  /** The request as it came. */
  readonly params: v2.FileChangeRequestApprovalParams;
}

export function openFileChangeApproval(
  params: v2.FileChangeRequestApprovalParams,
  { requestId, itemFor }: ReadContext,
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
  return openApproval({
    approval,
    slot: "fileChangeApproval",
    read: (wanted, reason) => {
      const decision = decisionSchema.parse(wanted);
      return { response: { decision }, decision, ...because(reason) };
    },
    refuse: (reason) => ({ response: { decision: "decline" }, decision: "decline", reason }),
  });
}
