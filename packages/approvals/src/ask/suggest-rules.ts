import type { Evaluation } from "../policy/evaluation.ts";
import type { Rule } from "../policy/rule.ts";
import type { ApprovalRequest } from "../request/request.ts";

/**
 * The rules that "always allow this" stands for: exactly what was shown. Empty when nothing may be remembered.
 * Put them into `alsoAllow` with `remember`.
 */
export function suggestRules(request: ApprovalRequest, { decision }: Evaluation): Rule[] {
  if (decision === "deny") return [];
  switch (request.kind) {
    case "command":
      if (request.network !== undefined)
        return [{ kind: "host", host: request.network.host, lasting: "always" }];
      if (request.additionalPermissions !== undefined || request.stdin === true) return [];
      return commandRules(request.command);
    case "network":
      return [
        {
          kind: "host",
          host: request.port === undefined ? request.host : `${request.host}:${request.port}`,
          lasting: "always",
        },
      ];
    case "fileChange":
      return (request.changes ?? []).flatMap(({ path, movePath }) =>
        [path, ...(movePath === undefined ? [] : [movePath])].map((glob): Rule => ({
          kind: "path",
          glob,
          access: "write",
        })),
      );
    case "mcpTool":
      return request.tool === undefined
        ? []
        : [{ kind: "mcp", server: request.server, tool: request.tool, lasting: "session" }];
    default:
      return [];
  }
}

/**
 * "Always allow" covers exactly what was shown: the same script, with its redirections, and nothing else. A rule for all
 * commands with the same beginning is a decision that a person takes by writing it.
 */
function commandRules(command: string | readonly string[]): Rule[] {
  return typeof command === "string"
    ? [{ kind: "script", text: command, note: "exactly this script, redirections included" }]
    : [{ kind: "exact", argv: command, note: "exactly these words" }];
}
