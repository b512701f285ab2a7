import type { PolicyEvaluation } from "../policy/evaluation.ts";
import type { Rule } from "../policy/rule.ts";
import { resolvePath } from "../files/path.ts";
import { portOf, withBrackets } from "../network/endpoint.ts";
import type { ApprovalRequest, CommandRequest, NetworkTarget } from "../request/request.ts";

/**
 * The rules for "always allow this", which cover exactly what was shown. Empty if nothing may be remembered.
 * Put them into `additionalAllow` with `remember`.
 */
export function suggestRules(request: ApprovalRequest, { decision }: PolicyEvaluation): Rule[] {
  if (decision === "deny") return [];
  switch (request.kind) {
    case "command":
      if (request.network !== undefined) return hostRules(request.network);
      if (request.additionalPermissions !== undefined || request.stdin === true) return [];
      return [commandRule(request)];
    case "network":
      return hostRules(request);
    case "fileChange":
      return (request.changes ?? []).flatMap(({ path, kind, movePath }) =>
        movePath === undefined
          ? pathRules(path, request.cwd, kind === "delete" ? "write" : "update")
          : [...pathRules(path, request.cwd, "write"), ...pathRules(movePath, request.cwd, "update")],
      );
    case "mcpTool": {
      const { server, tool } = request;
      // Servers choose their own names and those of their tools.
      const literal = /[*?]/.test(`${server}${tool}`) ? { literal: true } : {};
      return tool === undefined ? [] : [{ kind: "mcp", server, tool, ...literal, scope: "session" }];
    }
    default:
      return [];
  }
}

/**
 * "Always allow" covers exactly what was shown: the same script, with its redirections, in the same folder, and nothing else. A
 * person who wants to allow all commands with the same beginning must write that rule.
 */
function commandRule({ command, cwd }: CommandRequest): Rule {
  const where = cwd === undefined ? {} : { folder: cwd };
  return typeof command === "string"
    ? { kind: "script", text: command, ...where, note: "exactly this script, redirections included" }
    : { kind: "exact", argv: command, ...where, note: "exactly these words" };
}

/** The host with the requested port. An invalid name can't be remembered: a star would match every host. */
function hostRules({ host, protocol, port = portOf(protocol) }: NetworkTarget): Rule[] {
  const name = withBrackets(host);
  if (!/^(?:[\w.-]+|\[[0-9a-f:.]+\])$/i.test(name)) return [];
  return [{ kind: "host", host: port === undefined ? name : `${name}:${port}`, scope: "always" }];
}

/** One file. `write` also covers its deletion. A relative path without a known folder can't be remembered. */
function pathRules(path: string, cwd: string | undefined, access: "write" | "update"): Rule[] {
  if (!path.startsWith("/") && cwd === undefined) return [];
  const glob = resolvePath(cwd ?? "/", path);
  return [{ kind: "path", glob, access, ...(/[*?{}]/.test(glob) ? { literal: true } : {}) }];
}
