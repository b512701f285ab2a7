import { matchName } from "../files/glob.ts";
import type { McpToolRequest } from "../request/request.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import {
  cautionVerdict,
  defaultVerdict,
  evaluation,
  type PolicyEvaluation,
  judgeByFirstRule,
} from "./evaluation.ts";
import { describeRule } from "./rule.ts";

/** A tool of an MCP server, by the names of both. */
export function evaluateMcpTool(
  { server, tool }: McpToolRequest,
  compiled: CompiledPolicy,
): PolicyEvaluation {
  const { policy, preset } = compiled;
  const name = `${server}/${tool ?? "?"}`;
  const matches = (rule: CompiledRule): boolean => matchesTool(rule, server, tool) === "yes";
  const ruled = judgeByFirstRule(compiled, name, { tightens: matches, allows: matches });
  if (ruled?.decision === "deny") return evaluation(ruled);
  const unclear = [...compiled.deny, ...compiled.ask].find(
    (rule) => matchesTool(rule, server, tool) === "maybe",
  );
  if (unclear !== undefined) {
    const reason = `the tool is not named, and ${describeRule(unclear.rule)} has a rule of its own`;
    return evaluation(cautionVerdict("may-be-denied", reason, policy.default));
  }
  if (ruled?.decision === "ask") return evaluation(ruled);
  if (ruled !== undefined) return evaluation(ruled, { scope: ruled.matched?.scope ?? "call" });
  if (compiled.exclusive.mcp || preset.mcpTools === "default")
    return evaluation(defaultVerdict(policy.default, compiled.exclusive.mcp, `the tool ${name}`));
  return evaluation({
    decision: preset.mcpTools,
    rule: `preset/${policy.preset}/mcp`,
    reason: `the tool ${name}`,
  });
}

/** Whether a rule covers a tool. `maybe`: the tool is not named. */
export function matchesTool(
  { rule }: CompiledRule,
  server: string,
  tool: string | undefined,
): "yes" | "maybe" | "no" {
  if (rule.kind !== "mcp") return "no";
  const isLiteral = rule.literal === true;
  const fits = (wanted: string, name: string): boolean =>
    isLiteral ? wanted === name : matchName(wanted, name);
  if (!fits(rule.server, server)) return "no";
  if (rule.tool === undefined || (rule.tool === "*" && !isLiteral)) return "yes";
  if (tool === undefined) return "maybe";
  return fits(rule.tool, tool) ? "yes" : "no";
}
