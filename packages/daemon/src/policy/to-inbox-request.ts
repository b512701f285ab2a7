import type { AnyApproval, McpElicitationRequest, UserInputRequest } from "codexkit";
import type { PolicyEvaluation } from "@codexkit/approvals";
import { createHash } from "node:crypto";
import type { InboxRequest, PolicyVerdict } from "../api/approval.ts";

/** Everything that Codex may ask a person. */
export type AnyRequest = AnyApproval | UserInputRequest | McpElicitationRequest;

/** What the inbox stores about a request. */
export function toInboxRequest(request: AnyRequest): InboxRequest {
  switch (request.kind) {
    case "command":
      return {
        kind: "command",
        action: request.action,
        command: request.command ?? null,
        cwd: request.cwd ?? null,
        reason: request.reason ?? null,
        network: request.network ?? null,
        additionalPermissions: request.additionalPermissions ?? null,
      };
    case "legacyCommand":
      return {
        kind: "command",
        action: "command",
        command: request.command.join(" "),
        cwd: request.cwd,
        reason: request.reason ?? null,
        network: null,
        additionalPermissions: null,
      };
    case "fileChange":
      return {
        kind: "fileChange",
        reason: request.reason ?? null,
        grantRoot: request.grantRoot ?? null,
        changes: request.changes?.map(({ path, kind, diff }) => ({ path, kind: kind.type, diff })) ?? null,
      };
    case "legacyPatch":
      return {
        kind: "fileChange",
        reason: request.reason ?? null,
        grantRoot: request.params.grantRoot,
        changes: Object.entries(request.changes).flatMap(([path, change]) =>
          change
            ? [
                {
                  path,
                  kind: change.type,
                  // As for other patches: the contents of added and deleted files.
                  diff: "unified_diff" in change ? change.unified_diff : change.content,
                },
              ]
            : [],
        ),
      };
    case "permissions":
      return {
        kind: "permissions",
        cwd: request.cwd,
        reason: request.reason ?? null,
        permissions: request.permissions,
      };
    case "mcpTool":
      return {
        kind: "mcpTool",
        server: request.server,
        tool: request.tool ?? null,
        title: request.title ?? null,
        description: request.description ?? null,
        arguments: request.arguments ?? null,
        message: request.message,
      };
    case "userInput":
      return { kind: "userInput", questions: request.questions, isBlocking: request.isBlocking };
    case "elicitation": {
      const { params } = request;
      return {
        kind: "elicitation",
        server: request.server,
        mode: request.mode,
        message: "message" in params ? params.message : "",
        schema: "requestedSchema" in params ? params.requestedSchema : null,
        url: "url" in params ? params.url : null,
      };
    }
  }
}

/** The policy's verdict as the inbox stores it. */
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

/**
 * Identifies what is asked, so that a request that Codex sends again is recognised. Codex repeats the item and the turn; the
 * request's own ID is repeated too, but counts from the start on another server.
 */
export function fingerprintOf(request: AnyRequest): string {
  const itemId = "itemId" in request ? request.itemId : null;
  const inboxRequest = toInboxRequest(request);
  // The diff is that of the item, which a connection that was opened later has not seen.
  const what = inboxRequest.kind === "fileChange" ? { ...inboxRequest, changes: null } : inboxRequest;
  const asked = [request.threadId, request.turnId, itemId, what];
  return createHash("sha256").update(JSON.stringify(asked)).digest("hex");
}
