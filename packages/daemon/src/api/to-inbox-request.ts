import type { AnyApproval, McpElicitationRequest, UserInputRequest } from "codexkit";
import type { InboxRequest } from "./approval.ts";

/** Every request from Codex that a user may have to answer. */
export type AnyRequest = AnyApproval | UserInputRequest | McpElicitationRequest;

/**
 * Converts a request to the form in which the inbox stores it. Programs that handle requests of their own Codex process
 * use it, too, so that every request is presented in the same way.
 */
export function toInboxRequest(
  request: McpElicitationRequest,
): Extract<InboxRequest, { kind: "elicitation" }>;
export function toInboxRequest(request: AnyRequest): InboxRequest;
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
                  diff: legacyDiff(change),
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
        message: "message" in params ? params.message : params.description,
        schema: "requestedSchema" in params ? params.requestedSchema : null,
        url: "url" in params ? params.url : null,
      };
    }
  }
}

type LegacyChange = NonNullable<Extract<AnyRequest, { kind: "legacyPatch" }>["changes"][string]>;

/** The diff in the form that other patches have: the contents of added and deleted files, and the new path of moved ones. */
function legacyDiff(change: LegacyChange): string {
  if (!("unified_diff" in change)) return change.content;
  const { unified_diff: diff, move_path: newPath } = change;
  return newPath === null ? diff : `${diff}\n\nMoved to: ${newPath}`;
}
