import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import type { AnyApproval, HandlerContext } from "codexkit";
import type { ApprovalAsk } from "../session/ask.ts";
import { COMMAND_TOOL } from "../stream/command-view.ts";
import { mcpToolName } from "../stream/mcp-view.ts";
import { PATCH_TOOL, toChange } from "../stream/patch-view.ts";

/** What a person is asked. The id is the same in every process that the server asks. */
export function approvalAsk(approval: AnyApproval, { requestId, turnId }: HandlerContext): ApprovalAsk {
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

/** Without what is undefined, which JSON has no word for. */
function given(value: object): JSONValue {
  return JSON.parse(JSON.stringify(value)) as JSONValue;
}
