import type { InboxRequest } from "@codexkit/daemon/client";
import type { AnyApproval, McpElicitationRequest } from "codexkit";

/** An approval of this program's own codex in the shape that the daemon's inbox has, so that both are described alike. */
export function toInboxRequest(request: AnyApproval): InboxRequest {
  switch (request.kind) {
    case "command": {
      const { kind, action, command = null, cwd = null, reason = null, network = null } = request;
      const { additionalPermissions = null } = request;
      return { kind, action, command, cwd, reason, network, additionalPermissions };
    }
    case "legacyCommand": {
      const { command, cwd, reason = null } = request;
      const base = {
        kind: "command",
        action: "command",
        network: null,
        additionalPermissions: null,
      } as const;
      return { ...base, command: command.join(" "), cwd, reason };
    }
    case "fileChange": {
      const { kind, reason = null, grantRoot = null, changes } = request;
      return { kind, reason, grantRoot, changes: changes?.map(toChange) ?? null };
    }
    case "legacyPatch": {
      const { reason = null } = request;
      const changes = Object.keys(request.changes).map((path) => ({ path, kind: "update", diff: "" }));
      return { kind: "fileChange", reason, grantRoot: null, changes };
    }
    case "permissions": {
      const { kind, cwd, reason = null, permissions } = request;
      return { kind, cwd, reason, permissions };
    }
    case "mcpTool": {
      const { kind, server, tool = null, title = null, description = null, message } = request;
      return { kind, server, tool, title, description, arguments: request.arguments, message };
    }
  }
}

/** The same for a form of an MCP server. */
export function toFormRequest({
  kind,
  server,
  mode,
  params,
}: McpElicitationRequest): Extract<InboxRequest, { kind: "elicitation" }> {
  return {
    kind,
    server,
    mode,
    message: "message" in params ? params.message : params.description,
    schema: "requestedSchema" in params ? params.requestedSchema : null,
    url: "url" in params ? params.url : null,
  };
}

type FileChange = NonNullable<Extract<AnyApproval, { kind: "fileChange" }>["changes"]>[number];

function toChange({ path, kind, diff }: FileChange): { path: string; kind: string; diff: string } {
  return { path, kind: kind.type, diff };
}
