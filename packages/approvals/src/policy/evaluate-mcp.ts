import { matchName } from "../files/glob.ts";
import type { McpToolRequest } from "../request/request.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { cautionVerdict, defaultVerdict, evaluation, type Evaluation } from "./evaluation.ts";
import { describeRule } from "./rule.ts";

/** A tool of an MCP server, by the names of both. */
export function evaluateMcpTool({ server, tool }: McpToolRequest, compiled: CompiledPolicy): Evaluation {
  const { policy, preset } = compiled;
  const name = `${server}/${tool ?? "?"}`;
  for (const rule of compiled.deny) {
    const match = speaks(rule, server, tool);
    if (match === "yes")
      return evaluation({
        decision: "deny",
        rule: rule.id,
        reason: `${name} is denied by ${describeRule(rule.rule)}`,
        matched: rule.rule,
      });
    if (match === "maybe")
      return evaluation(
        cautionVerdict(
          "may-be-denied",
          `the tool is not named, and ${describeRule(rule.rule)} is denied`,
          policy.default,
        ),
      );
  }
  for (const rule of [...compiled.allow, ...compiled.alsoAllow]) {
    if (speaks(rule, server, tool) !== "yes") continue;
    return evaluation(
      {
        decision: "allow",
        rule: rule.id,
        reason: `${name} is allowed by ${describeRule(rule.rule)}`,
        matched: rule.rule,
      },
      { lasting: rule.rule.lasting ?? "call" },
    );
  }
  if (compiled.exclusive.mcp || preset.mcpTools === "default")
    return evaluation(defaultVerdict(policy.default, compiled.exclusive.mcp, `the tool ${name}`));
  return evaluation({
    decision: preset.mcpTools,
    rule: `preset/${policy.preset}/mcp`,
    reason: `the tool ${name}`,
  });
}

function speaks({ rule }: CompiledRule, server: string, tool: string | undefined): "yes" | "maybe" | "no" {
  if (rule.kind !== "mcp" || !matchName(rule.server, server)) return "no";
  if (rule.tool === undefined || rule.tool === "*") return "yes";
  if (tool === undefined) return "maybe";
  return matchName(rule.tool, tool) ? "yes" : "no";
}
