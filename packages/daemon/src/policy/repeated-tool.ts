import type { ElicitationAnswer, McpElicitationRequest } from "codexkit";
import { isDeepStrictEqual } from "node:util";
import type { ApprovalRow } from "../database/tables.ts";
import { toInboxRequest } from "./to-inbox-request.ts";

/**
 * Whether Codex repeats its question about the tool of an entry. A server can send any form, so that everything which the person
 * was shown has to be the same: then the answer allows nothing else.
 */
export function isSameTool(
  row: Pick<ApprovalRow, "kind" | "thread_id" | "turn_id" | "request">,
  { threadId, turnId, possibleApproval }: McpElicitationRequest,
): boolean {
  if (row.kind !== "mcpTool" || row.thread_id !== threadId || row.turn_id !== turnId) return false;
  return (
    possibleApproval !== undefined &&
    isDeepStrictEqual(JSON.parse(row.request), toInboxRequest(possibleApproval))
  );
}

/** What Codex is told for an offer of a tool's entry. */
export function toolAnswer(offer: string): ElicitationAnswer {
  switch (offer) {
    case "accept":
      return { action: "accept", content: {} };
    case "acceptForSession":
      return { action: "accept", content: {}, _meta: { persist: "session" } };
    case "acceptAlways":
      return { action: "accept", content: {}, _meta: { persist: "always" } };
    case "cancel":
      return "cancel";
    default:
      return "decline";
  }
}
