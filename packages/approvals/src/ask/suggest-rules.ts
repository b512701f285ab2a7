import { VERB_PROGRAMS } from "../programs/tables.ts";
import type { CommandVerdict, Evaluation } from "../policy/evaluation.ts";
import type { Rule } from "../policy/rule.ts";
import type { ApprovalRequest } from "../request/request.ts";

/**
 * The rules that "always allow this" stands for: as narrow as still makes sense. Empty when nothing may be remembered.
 * Put them into `alsoAllow` with `remember`.
 */
export function suggestRules(request: ApprovalRequest, { parse, rule, decision }: Evaluation): Rule[] {
  if (decision === "deny") return [];
  switch (request.kind) {
    case "command":
      if (request.network !== undefined)
        return [{ kind: "host", host: request.network.host, lasting: "always" }];
      if (request.additionalPermissions !== undefined || request.stdin === true) return [];
      return commandRules(request.command, parse, rule);
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

function commandRules(
  command: string | readonly string[],
  parse: readonly CommandVerdict[],
  rule: string,
): Rule[] {
  const asked = parse.filter(({ decision }) => decision === "ask");
  // What can't be read can only be remembered word for word.
  const opaque =
    rule.startsWith("caution/") ||
    asked.some((verdict) => verdict.rule.startsWith("caution/")) ||
    asked.length === 0;
  if (opaque)
    return typeof command === "string"
      ? [{ kind: "script", text: command }]
      : [{ kind: "exact", argv: command }];
  const rules = asked.map(({ command: text }): Rule | undefined => prefixRule(text));
  // One command without a safe prefix makes the whole line the thing to remember.
  if (rules.includes(undefined))
    return typeof command === "string"
      ? [{ kind: "script", text: command }]
      : [{ kind: "exact", argv: command }];
  return rules.filter((found) => found !== undefined);
}

/** `docker push …` is worth a rule for `docker push`; any other program only for exactly these words. */
function prefixRule(text: string): Rule | undefined {
  const words = text.split(" ");
  // Quoted or unknown words don't survive being split; they are not for a prefix anyway.
  const plain = words.findIndex((word) => !/^[\w@%+=:,./-]+$/.test(word));
  const usable = plain === -1 ? words : words.slice(0, plain);
  const [name, second] = usable;
  if (name === undefined || /[/\\]/.test(name)) return undefined;
  if (second === undefined) return words.length === 1 ? { kind: "exact", argv: [name] } : undefined;
  const verbs = VERB_PROGRAMS.has(name) || name === "git";
  if (verbs && !second.startsWith("-")) return { kind: "prefix", argv: [name, second] };
  return usable.length === words.length ? { kind: "exact", argv: words } : undefined;
}
