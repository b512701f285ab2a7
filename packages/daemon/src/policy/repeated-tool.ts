import type { ElicitationAnswer, McpElicitationRequest } from "codexkit";
import { isDeepStrictEqual } from "node:util";
import type { ApprovalRow } from "../database/tables.ts";
import { toInboxRequest } from "./to-inbox-request.ts";

/**
 * Whether Codex repeats the request of a tool's entry. A server can send any form, so everything that was presented
 * must be identical. Otherwise, the answer might allow something else.
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

/** Returns Codex's response for an offer of a tool's entry. */
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
