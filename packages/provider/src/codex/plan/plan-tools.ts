import type { Rule } from "@codexkit/approvals";
import type { AgentSpec } from "../../contract/agent-spec.ts";
import type { IgnoredField } from "../../contract/ignored-field.ts";
import { readToolRule, type ToolKind, type ToolRule } from "./tool-rule.ts";

/** The tool lists of a spec. */
export interface ToolPlan {
  readonly allow: readonly Rule[];
  readonly deny: readonly Rule[];
  /** Kinds of requests that are always denied. */
  readonly refused: readonly ToolKind[];
  readonly webSearch: boolean;
  readonly agents: boolean;
  readonly ignored: readonly IgnoredField[];
}

const KINDS: readonly ToolKind[] = ["command", "edit", "mcp"];

export function planTools({ allowedTools, disallowedTools }: AgentSpec): ToolPlan {
  const allowed = allowedTools?.map(readToolRule);
  const denied = (disallowedTools ?? []).map(readToolRule);
  const permits = (tool: ToolRule["tool"]): boolean => allowed?.some((rule) => rule.tool === tool) ?? true;
  const forbids = (tool: ToolRule["tool"]): boolean => denied.some((rule) => rule.tool === tool);
  const refusesAll = (kind: ToolKind): boolean =>
    denied.some((rule) => rule.tool === kind && "rules" in rule && rule.rules.length === 0);
  return {
    allow: (allowed ?? []).flatMap(allowRules),
    deny: denied.flatMap((rule) => ("rules" in rule ? rule.rules : [])),
    refused: KINDS.filter((kind) => !permits(kind) || refusesAll(kind)),
    webSearch: permits("web-search") && !forbids("web-search"),
    agents: permits("agents") && !forbids("agents"),
    ignored: [...unknownOf("allowedTools", allowed ?? []), ...unknownOf("disallowedTools", denied)],
  };
}

/** A tool that is allowed without a pattern needs a rule that allows everything. */
function allowRules(rule: ToolRule): readonly Rule[] {
  if (!("rules" in rule)) return [];
  if (rule.rules.length > 0) return rule.rules;
  return rule.tool === "command"
    ? [{ kind: "regex", pattern: ".*" }]
    : [{ kind: "path", glob: "**", access: "write" }];
}

function unknownOf(field: "allowedTools" | "disallowedTools", rules: readonly ToolRule[]): IgnoredField[] {
  const names = rules.flatMap((rule) => (rule.tool === "unknown" ? [rule.name] : []));
  if (names.length === 0) return [];
  return [{ field, reason: `Codex has no tools named ${names.join(", ")}; the other entries apply` }];
}
