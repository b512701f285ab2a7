import type { ElicitationAnswer, McpElicitationRequest } from "codexkit";
import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import type { InboxRequest } from "../api/approval.ts";
import type { ApprovalRow } from "../database/tables.ts";

const toolForm = z.looseObject({
  mode: z.literal("form"),
  message: z.string(),
  requestedSchema: z.strictObject({ type: z.literal("object"), properties: z.strictObject({}) }),
  _meta: z.looseObject({ codex_approval_kind: z.literal("mcp_tool_call"), tool_params: z.unknown() }),
});

/**
 * Whether Codex repeats its question about the tool of an entry. A server can send any form, so that everything which the person
 * was shown has to be the same: then the answer allows nothing else.
 */
export function isSameTool(
  row: Pick<ApprovalRow, "kind" | "thread_id" | "turn_id" | "request">,
  { server, threadId, turnId, params }: McpElicitationRequest,
): boolean {
  if (row.kind !== "mcpTool" || row.thread_id !== threadId || row.turn_id !== turnId) return false;
  const form = toolForm.safeParse(params);
  const stored = JSON.parse(row.request) as Extract<InboxRequest, { kind: "mcpTool" }>;
  return (
    form.success &&
    stored.server === server &&
    stored.message === form.data.message &&
    isDeepStrictEqual(stored.arguments ?? {}, form.data._meta.tool_params ?? {})
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
