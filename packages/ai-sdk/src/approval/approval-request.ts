import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import type { AnyApproval, HandlerContext } from "codexkit";
import type { ApprovalRequest } from "../requests/client-request.ts";
import { mcpToolName } from "../items/mcp-view.ts";
import { COMMAND_TOOL, PATCH_TOOL, toChange } from "../items/work-views.ts";

/** Converts an approval. Its id is the same in every process that receives the request. */
export function toApprovalRequest(
  approval: AnyApproval,
  { requestId, turnId }: HandlerContext,
): ApprovalRequest {
  const details = JSON.parse(JSON.stringify(detailsOf(approval))) as JSONObject;
  return {
    kind: "approval",
    id: `${turnId ?? "thread"}:${requestId}`,
    itemId: "itemId" in approval ? approval.itemId : undefined,
    ...callOf(approval),
    details: { approval: approval.kind, ...details },
  };
}

function callOf(approval: AnyApproval): { readonly toolName: string; readonly input: JSONValue } {
  switch (approval.kind) {
    case "command":
      return { toolName: COMMAND_TOOL, input: given({ command: approval.command, cwd: approval.cwd }) };
    case "fileChange":
      return { toolName: PATCH_TOOL, input: { changes: (approval.changes ?? []).map(toChange) } };
    case "permissions":
      return {
        toolName: "codex_permissions",
        input: given({ permissions: approval.permissions, cwd: approval.cwd, reason: approval.reason }),
      };
    case "mcpTool":
      return {
        toolName: mcpToolName(approval.server, approval.tool ?? "tool"),
        input: approval.arguments ?? {},
      };
    case "legacyCommand":
      return { toolName: COMMAND_TOOL, input: given(approval.params) };
    case "legacyPatch":
      return { toolName: PATCH_TOOL, input: given(approval.params) };
  }
}

function detailsOf(approval: AnyApproval): object {
  switch (approval.kind) {
    case "command": {
      const { reason, action, network, proposedPrefix, availableDecisions } = approval;
      return { reason, action, network, proposedPrefix, availableDecisions };
    }
    case "fileChange":
      return { reason: approval.reason, grantRoot: approval.grantRoot };
    case "permissions":
      return { reason: approval.reason };
    case "mcpTool":
      return { message: approval.message, title: approval.title, persist: approval.persist };
    case "legacyCommand":
    case "legacyPatch":
      return {};
  }
}

/** Drops undefined members, because JSON has none. */
function given(value: object): JSONValue {
  return JSON.parse(JSON.stringify(value)) as JSONValue;
}
