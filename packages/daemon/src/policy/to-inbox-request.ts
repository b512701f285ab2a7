import type { PolicyEvaluation } from "@codexkit/approvals";
import { createHash } from "node:crypto";
import type { PolicyVerdict } from "../api/approval.ts";
import { type AnyRequest, toInboxRequest } from "../api/to-inbox-request.ts";

export { type AnyRequest, toInboxRequest } from "../api/to-inbox-request.ts";

/** Converts the policy's verdict to the form that the inbox stores. */
export function toVerdict({ decision, reason, rule, parse }: PolicyEvaluation): PolicyVerdict {
  return {
    decision,
    reason,
    rule,
    segments: parse.map(({ command, parent, ...verdict }) => ({
      command,
      parent,
      decision: verdict.decision,
      reason: verdict.reason,
      rule: verdict.rule,
    })),
  };
}

/** Returns the ID of the model's call that waits for the answer, which is usually that of the item. */
export function callIdOf(request: AnyRequest): string | undefined {
  // The item is the running command, which an earlier call started.
  if (request.kind === "command" && request.action === "writeStdin") return approvalIdOf(request);
  return "itemId" in request ? request.itemId : undefined;
}

/**
 * Identifies the content of a request, so that it is recognised if Codex sends it again. The item, the turn and the ID of an
 * approval are repeated. The request's own ID can't be used: it is repeated, too, but another server starts to count from the
 * beginning.
 */
export function fingerprintOf(request: AnyRequest): string {
  const itemId = "itemId" in request ? request.itemId : null;
  const inboxRequest = toInboxRequest(request);
  // The diff is that of the item, which a later connection has not received.
  const what = inboxRequest.kind === "fileChange" ? { ...inboxRequest, changes: null } : inboxRequest;
  const approvalId = approvalIdOf(request);
  const asked = [
    request.threadId,
    request.turnId,
    itemId,
    what,
    ...(approvalId === undefined ? [] : [approvalId]),
  ];
  return createHash("sha256").update(JSON.stringify(asked)).digest("hex");
}

/** An item can have several approvals: one per input of a terminal, or one per program that a command starts. */
function approvalIdOf(request: AnyRequest): string | undefined {
  return request.kind === "command" ? (request.params.approvalId ?? undefined) : undefined;
}
