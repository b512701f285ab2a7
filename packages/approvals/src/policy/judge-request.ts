import { Workspace, type PathFacts } from "../files/workspace.ts";
import type { ApprovalRequest } from "../request/request.ts";
import { compilePolicy, type CompiledPolicy } from "./compile-policy.ts";
import { evaluateCommand } from "./evaluate-command.ts";
import { evaluateFileChange } from "./evaluate-file-change.ts";
import { evaluateMcpTool } from "./evaluate-mcp.ts";
import { evaluateTarget } from "./evaluate-network.ts";
import { evaluatePermissions, judgePermissions } from "./evaluate-permissions.ts";
import {
  cautionVerdict,
  evaluation,
  isRefused,
  pickStricter,
  type PolicyEvaluation,
  type Verdict,
} from "./evaluation.ts";
import type { Policy } from "./policy.ts";
import { PRESETS } from "./presets.ts";

/** Judges a request in workspace that record which paths matter, for `resolvePaths`. */
export function judgeRequest(
  workspace: Workspace,
  policy: Policy,
  request: ApprovalRequest,
): PolicyEvaluation {
  const judged = dispatch(workspace, compilePolicy(policy), request);
  if (policy.within === undefined || judged.decision !== "allow") return judged;
  return limit(judged, dispatch(workspace, compilePolicy(policy.within), request), policy.within);
}

/**
 * What one policy allows within another. A command that is not understood may be allowed by a rule, if the outer policy lets
 * code of the project run: that could do the same.
 */
function limit(
  judged: PolicyEvaluation,
  outer: PolicyEvaluation,
  { preset, effects }: Policy,
): PolicyEvaluation {
  if (outer.decision === "allow") return judged;
  const runsCode =
    (effects["project-code"] ?? "allow") === "allow" && PRESETS[preset].allows.has("project-code");
  const refusals = outer.parse.filter(({ decision }) => decision !== "allow");
  const isOnlyUnknown =
    outer.rule === "not-understood" && refusals.every(({ rule }) => rule === "not-understood");
  return runsCode && isOnlyUnknown ? judged : outer;
}

function dispatch(workspace: Workspace, policy: CompiledPolicy, request: ApprovalRequest): PolicyEvaluation {
  switch (request.kind) {
    case "command":
      return withRest(evaluateCommand(request, workspace, policy), request, workspace, policy);
    case "fileChange":
      return evaluateFileChange(request, workspace, policy);
    case "network": {
      const verdict = evaluateTarget(request, policy);
      return evaluation(verdict, { scope: scopeFor(verdict) });
    }
    case "permissions":
      return evaluatePermissions(request.permissions, workspace, policy);
    case "mcpTool":
      return evaluateMcpTool(request, policy);
    case "elicitation":
      return evaluation(
        cautionVerdict(
          "elicitation",
          `the server ${request.server} asks the person for something`,
          policy.policy.default,
        ),
      );
    case "unknown":
      return evaluation({
        decision: "deny",
        rule: "safety/unknown-kind",
        reason: `requests of the kind ${request.method} are not known`,
      });
    default:
      return evaluation({
        decision: "deny",
        rule: "safety/unknown-kind",
        reason: "a kind of request that is not known",
      });
  }
}

/** What a command asks for besides running: a host, or more rights than the sandbox gives. */
function withRest(
  command: PolicyEvaluation,
  request: Extract<ApprovalRequest, { kind: "command" }>,
  workspace: Workspace,
  policy: CompiledPolicy,
): PolicyEvaluation {
  if (request.network !== undefined) {
    const verdict = evaluateTarget(request.network, policy);
    // The question is about the host; the command was settled before. It still can't be one that is refused.
    return isRefused(command)
      ? command
      : evaluation(verdict, { parse: command.parse, scope: scopeFor(verdict) });
  }
  if (request.additionalPermissions === undefined) return command;
  // A command gets all it asks for or nothing: a part of it can't be expressed in the answer.
  const { verdicts } = judgePermissions(request.additionalPermissions, workspace, policy);
  const worst = verdicts.reduce<Verdict>(pickStricter, command);
  return evaluation(worst, { parse: command.parse });
}

function scopeFor({ decision, matched, rule }: Verdict): PolicyEvaluation["scope"] {
  if (decision === "ask") return "call";
  // A host in the policy's own lists is named for good.
  return (
    matched?.scope ??
    (rule.startsWith("network.") && (rule.endsWith("allow") || rule.endsWith("deny")) ? "always" : "call")
  );
}

/** The workspace as a request sees it. */
export function workspaceFor(policy: Policy, request?: ApprovalRequest, facts?: PathFacts): Workspace {
  const { roots, temp, home } = policy.workspace;
  const own = request !== undefined && "cwd" in request ? request.cwd : undefined;
  const cwd = own ?? roots[0] ?? "/";
  return new Workspace({ roots: roots.length > 0 ? roots : [cwd], temp, home, cwd, facts });
}
