import { matchName } from "../files/glob.ts";
import type { FileChangeRequest, McpToolRequest } from "../request/request.ts";
import type { CompiledPolicy, CompiledRule } from "./compile-policy.ts";
import {
  BYPASSED,
  cautionVerdict,
  defaultVerdict,
  evaluation,
  judgeByFirstRule,
  pickStricter,
  refusal,
  type Match,
  type PolicyEvaluation,
  type Verdict,
} from "./evaluation.ts";
import { judgeWrite, type JudgeContext } from "./judge-path.ts";
import { describeRule } from "./rule.ts";

/** A patch: every path in it, both ends of a move, and the folder it asks to be granted. */
export function evaluateFileChange(request: FileChangeRequest, context: JudgeContext): PolicyEvaluation {
  const { changes = [], grantRoot } = request;
  const { policy } = context;
  if (!policy.preset.safety) return evaluation(BYPASSED);
  const judge = (path: string, access: "update" | "delete"): Verdict => judgeChange(path, access, context);
  const verdicts = changes.flatMap(({ path, kind, movePath }) =>
    movePath === undefined
      ? [judge(path, kind === "delete" ? "delete" : "update")]
      : [judge(path, "delete"), judge(movePath, "update")],
  );
  if (request.changes !== undefined && grantRoot !== undefined) verdicts.push(judgeRoot(grantRoot, context));
  const [first, ...others] = verdicts;
  if (first === undefined)
    return evaluation(cautionVerdict("no-changes", "the list of changes is not at hand", policy));
  const worst = others.reduce<Verdict>(pickStricter, first);
  return evaluation(worst, { scope: worst.matched?.scope === "session" ? "session" : "call" });
}

/** A folder that holds the workspace would grant more than the workspace. */
function judgeRoot(path: string, context: JudgeContext): Verdict {
  const { workspace, policy } = context;
  const { real } = workspace.locate(workspace.absolute(path, workspace.cwd));
  const isWide = real === undefined || (workspace.holdsWorkspace(real) && !workspace.inWorkspace(real));
  const decision = policy.policy.default === "allow" ? "allow" : "deny";
  return isWide
    ? defaultVerdict(decision, false, `${path} is wider than the workspace`)
    : judgeChange(path, "delete", context);
}

function judgeChange(path: string, access: "update" | "delete", context: JudgeContext): Verdict {
  const { workspace, policy } = context;
  // A path of Windows would pass for a name in the working folder.
  if (path === "" || /\0|^[A-Za-z]:[\\/]|^\\\\/.test(path))
    return refusal("protected-path", "a path that can't be a file");
  const absolute = workspace.absolute(path, workspace.cwd);
  const verdict = judgeWrite(absolute, workspace.locate(absolute), context, access);
  return verdict.matched === undefined && policy.exclusive.path && !verdict.rule.startsWith("safety/")
    ? defaultVerdict(policy.policy.default, true, "")
    : verdict;
}

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
