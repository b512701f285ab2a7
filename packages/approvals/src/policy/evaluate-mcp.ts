import { matchName } from "../files/glob.ts";
import type { McpToolRequest } from "../request/request.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import { cautionVerdict, defaultVerdict, evaluation, type Evaluation } from "./evaluation.ts";
import { ruleVerdict } from "./judge-path.ts";
import { describeRule } from "./rule.ts";

/** A tool of an MCP server, by the names of both. */
export function evaluateMcpTool({ server, tool }: McpToolRequest, compiled: CompiledPolicy): Evaluation {
  const { policy, preset } = compiled;
  const name = `${server}/${tool ?? "?"}`;
  for (const rule of compiled.deny) {
    const match = matchesTool(rule, server, tool);
    if (match === "yes") return evaluation(ruleVerdict(rule, "deny", name));
    if (match === "maybe")
      return evaluation(
        cautionVerdict(
          "may-be-denied",
          `the tool is not named, and ${describeRule(rule.rule)} is denied`,
          policy.default,
        ),
      );
  }
  const asked = compiled.ask.find((rule) => matchesTool(rule, server, tool) !== "no");
  if (asked !== undefined) return evaluation(ruleVerdict(asked, "ask", name));
  for (const rule of [...compiled.allow, ...compiled.alsoAllow]) {
    if (matchesTool(rule, server, tool) !== "yes") continue;
    return evaluation(ruleVerdict(rule, "allow", name), { lasting: rule.rule.lasting ?? "call" });
  }
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
