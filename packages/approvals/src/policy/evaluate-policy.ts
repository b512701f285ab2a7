import { portOf, readEndpoint, withBrackets } from "../network/endpoint.ts";
import { matchName } from "../files/glob.ts";
import { Workspace, type PathFacts } from "../files/workspace.ts";
import type { ApprovalRequest, FileChangeRequest, NetworkTarget } from "../request/request.ts";
import { WorkBudget } from "../limits.ts";
import { compilePolicy, type CompiledPolicy, type CompiledRule } from "./compile-policy.ts";
import { evaluateCommand } from "./evaluate-command.ts";
import { judgePermissions } from "./judge-permissions.ts";
import {
  BYPASSED,
  cautionVerdict,
  defaultVerdict,
  evaluation,
  isRefused,
  judgeByFirstRule,
  pickStricter,
  refusal,
  type Match,
  type PolicyEvaluation,
  type Verdict,
} from "./evaluation.ts";
import { judgeHost, judgeWrite, type JudgeContext } from "./judge-path.ts";
import type { Policy } from "./policy.ts";
import { PRESETS } from "./presets.ts";
import { describeRule } from "./rule.ts";

/**
 * Judges a request. Pure: the same policy, request and facts always give the same result. Does no I/O and never throws.
 *
 * @param facts Resolved paths, from `resolvePaths`. Without them, paths are judged by their text, and no link is followed.
 */
export function evaluatePolicy(
  policy: Policy,
  request: ApprovalRequest,
  facts?: PathFacts,
): PolicyEvaluation {
  try {
    return judgeRequest(workspaceFor(policy, request, facts), policy, request);
  } catch (error) {
    // Neither a malformed request nor a bug in this package may lead to an accept.
    const what = error instanceof Error ? error.message : String(error);
    return evaluation(refusal("internal-error", `the request could not be judged: ${what}`));
  }
}

export function workspaceFor(policy: Policy, request?: ApprovalRequest, facts?: PathFacts): Workspace {
  const { roots, temp, home } = policy.workspace;
  const own = request !== undefined && "cwd" in request ? request.cwd : undefined;
  const cwd = own ?? roots[0] ?? "/";
  return new Workspace({ roots: roots.length > 0 ? roots : [cwd], temp, home, cwd, facts });
}

/** Judges a request in a workspace that records which paths matter, for `resolvePaths`. */
export function judgeRequest(
  workspace: Workspace,
  policy: Policy,
  request: ApprovalRequest,
): PolicyEvaluation {
  const judge = (by: Policy): PolicyEvaluation =>
    dispatch(request, { workspace, policy: compilePolicy(by), budget: new WorkBudget() });
  const judged = judge(policy);
  if (policy.within === undefined || judged.decision !== "allow") return judged;
  const outer = judge(policy.within);
  return isWithin(outer, policy.within) ? judged : outer;
}

/**
 * Whether the outer policy permits that a request is allowed. A rule may allow a command that is not understood if the outer
 * policy allows project code, which could do the same.
 */
function isWithin(outer: PolicyEvaluation, { preset, effects }: Policy): boolean {
  if (outer.decision === "allow") return true;
  const runsCode =
    (effects["project-code"] ?? "allow") === "allow" && PRESETS[preset].allows.has("project-code");
  const verdicts = [outer, ...outer.parse.filter(({ decision }) => decision !== "allow")];
  return runsCode && verdicts.every(({ rule }) => rule === "not-understood");
}

function dispatch(request: ApprovalRequest, context: JudgeContext): PolicyEvaluation {
  const { policy } = context;
  switch (request.kind) {
    case "command": {
      const { network, additionalPermissions } = request;
      const command = evaluateCommand(request, context);
      // The question is about the host, and the command was settled before. It must still not be a refused one.
      if (network !== undefined)
        return isRefused(command) ? command : { ...evaluateTarget(network, policy), parse: command.parse };
      if (additionalPermissions === undefined) return command;
      const verdicts = judgePermissions(additionalPermissions, context);
      return evaluation(verdicts.reduce<Verdict>(pickStricter, command), { parse: command.parse });
    }
    case "fileChange":
      return evaluateFileChange(request, context);
    case "network":
      return evaluateTarget(request, policy);
    case "permissions":
      return evaluation(
        judgePermissions(request.permissions, context).reduce<Verdict | undefined>(pickStricter, undefined) ??
          refusal("no-permissions", "asks for nothing that can be granted"),
      );
    case "mcpTool":
      return evaluateMcpTool(request, policy);
    case "elicitation": {
      const reason = `the server ${request.server} asks the person a question`;
      return evaluation(cautionVerdict("elicitation", reason, policy));
    }
    case "unknown":
      return evaluation(refusal("unknown-kind", `${request.method} is an unknown kind of request`));
    default:
      return evaluation(refusal("unknown-kind", "an unknown kind of request"));
  }
}

function evaluateTarget(target: NetworkTarget, policy: CompiledPolicy): PolicyEvaluation {
  const { host, protocol, port } = target;
  // On the wire, IPv6 addresses have no brackets.
  const read = readEndpoint(withBrackets(host));
  const endpoint = read && { host: read.host, port: port ?? read.port ?? portOf(protocol) };
  const verdict = judgeHost(endpoint, true, policy);
  // A decision about a host in the policy's own lists is permanent.
  const isListed = verdict.rule === "network.allow" || verdict.rule === "network.deny";
  const scope = verdict.matched?.scope ?? (isListed ? "always" : "call");
  return evaluation(verdict, verdict.decision === "ask" ? {} : { scope });
}

/** Judges a patch: every path in it, both ends of a move, and the folder that it asks to be granted. */
function evaluateFileChange(request: FileChangeRequest, context: JudgeContext): PolicyEvaluation {
  const { changes = [], grantRoot } = request;
  const { workspace, policy } = context;
  if (!policy.preset.safety) return evaluation(BYPASSED);
  const verdicts = changes.flatMap(({ path, kind, movePath }) =>
    movePath === undefined
      ? [judgeChange(path, kind === "delete" ? "delete" : "update", context)]
      : [judgeChange(path, "delete", context), judgeChange(movePath, "update", context)],
  );
  if (request.changes !== undefined && grantRoot !== undefined) {
    const { real } = workspace.locate(workspace.absolute(grantRoot, workspace.cwd));
    // A folder around the workspace would grant more than the workspace.
    const isWide = real === undefined || (workspace.holdsWorkspace(real) && !workspace.inWorkspace(real));
    const decision = policy.policy.default === "allow" ? "allow" : "deny";
    const wide = defaultVerdict(decision, false, `${grantRoot} is wider than the workspace`);
    verdicts.push(isWide ? wide : judgeChange(grantRoot, "delete", context));
  }
  const [first, ...others] = verdicts;
  if (first === undefined)
    return evaluation(cautionVerdict("no-changes", "the list of changes is not available", policy));
  const worst = others.reduce<Verdict>(pickStricter, first);
  return evaluation(worst, { scope: worst.matched?.scope === "session" ? "session" : "call" });
}

function judgeChange(path: string, access: "update" | "delete", context: JudgeContext): Verdict {
  const { workspace, policy } = context;
  // A Windows path would otherwise count as a name in the working folder.
  if (path === "" || /\0|^[A-Za-z]:[\\/]|^\\\\/.test(path))
    return refusal("protected-path", "a path that can't be a file");
  const absolute = workspace.absolute(path, workspace.cwd);
  const verdict = judgeWrite(absolute, workspace.locate(absolute), context, access);
  return verdict.matched === undefined && policy.exclusive.path && !verdict.rule.startsWith("safety/")
    ? defaultVerdict(policy.policy.default, true, "")
    : verdict;
}

type Tool = Pick<Extract<ApprovalRequest, { readonly kind: "mcpTool" }>, "server" | "tool">;

function evaluateMcpTool(called: Tool, compiled: CompiledPolicy): PolicyEvaluation {
  const { policy, preset, exclusive } = compiled;
  const name = `${called.server}/${called.tool ?? "?"}`;
  const ruled = judgeByFirstRule(compiled, name, {
    tightens: (rule) => matchesTool(rule, called),
    allows: (rule) => matchesTool(rule, called) === "yes",
    unclear: ({ rule }) => {
      const reason = `the name of the tool is not known, and there is a rule for ${describeRule(rule)}`;
      return cautionVerdict("may-be-denied", reason, compiled);
    },
  });
  if (ruled !== undefined)
    return evaluation(ruled, ruled.decision === "allow" ? { scope: ruled.matched?.scope ?? "call" } : {});
  const reason = `the tool ${name}`;
  if (exclusive.mcp || preset.mcpTools === undefined)
    return evaluation(defaultVerdict(policy.default, exclusive.mcp, reason));
  return evaluation({ decision: preset.mcpTools, rule: `preset/${policy.preset}/mcp`, reason });
}

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
