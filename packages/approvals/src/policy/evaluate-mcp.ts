import { matchName } from "../files/glob.ts";
import type { McpToolRequest } from "../request/request.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import {
  cautionVerdict,
  defaultVerdict,
  evaluation,
  judgeByFirstRule,
  type Match,
  type PolicyEvaluation,
} from "./evaluation.ts";
import { describeRule } from "./rule.ts";

type Tool = Pick<McpToolRequest, "server" | "tool">;

/** A tool of an MCP server, by the names of both. */
export function evaluateMcpTool(called: Tool, compiled: CompiledPolicy): PolicyEvaluation {
  const { policy, preset, exclusive } = compiled;
  const name = `${called.server}/${called.tool ?? "?"}`;
  const ruled = judgeByFirstRule(compiled, name, {
    tightens: (rule) => matchesTool(rule, called),
    allows: (rule) => matchesTool(rule, called) === "yes",
    unclear: ({ rule }) => {
      const reason = `the tool is not named, and ${describeRule(rule)} has a rule of its own`;
      return cautionVerdict("may-be-denied", reason, compiled);
    },
  });
  if (ruled !== undefined)
    return evaluation(ruled, ruled.decision === "allow" ? { scope: ruled.matched?.scope ?? "call" } : {});
  const reason = `the tool ${name}`;
  if (exclusive.mcp || preset.mcpTools === "default")
    return evaluation(defaultVerdict(policy.default, exclusive.mcp, reason));
  return evaluation({ decision: preset.mcpTools, rule: `preset/${policy.preset}/mcp`, reason });
}

/** Whether a rule covers a tool. `maybe`: the tool is not named. */
export function matchesTool({ rule }: CompiledRule, { server, tool }: Tool): Match {
  if (rule.kind !== "mcp") return "no";
  const isLiteral = rule.literal === true;
  const fits = (wanted: string, name: string): boolean =>
    isLiteral ? wanted === name : matchName(wanted, name);
  if (!fits(rule.server, server)) return "no";
  if (rule.tool === undefined || (rule.tool === "*" && !isLiteral)) return "yes";
  if (tool === undefined) return "maybe";
  return fits(rule.tool, tool) ? "yes" : "no";
}
