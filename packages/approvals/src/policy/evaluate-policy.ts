import { Workspace, type PathFacts } from "../files/workspace.ts";
import type { ApprovalRequest, CommandRequest } from "../request/request.ts";
import { WorkBudget } from "../shell/work-budget.ts";
import { compilePolicy } from "./compile-policy.ts";
import { evaluateCommand } from "./evaluate-command.ts";
import { evaluateFileChange, evaluateMcpTool } from "./evaluate-others.ts";
import { evaluateTarget } from "./evaluate-network.ts";
import { evaluatePermissions, judgePermissions } from "./evaluate-permissions.ts";
import {
  cautionVerdict,
  evaluation,
  isRefused,
  pickStricter,
  refusal,
  type PolicyEvaluation,
  type Verdict,
} from "./evaluation.ts";
import type { JudgeContext } from "./judge-path.ts";
import type { Policy } from "./policy.ts";
import { PRESETS } from "./presets.ts";

/**
 * Judges a request. Pure: the same policy, request and facts always give the same result. Does no I/O and never throws.
 *
 * @param facts Resolved paths of the request, from `resolvePaths`. Without them, paths are judged by their text alone, and
 *   links are not followed.
 */
export function evaluatePolicy(
  policy: Policy,
  request: ApprovalRequest,
  facts?: PathFacts,
): PolicyEvaluation {
  try {
    return judgeRequest(workspaceFor(policy, request, facts), policy, request);
  } catch (error) {
    // Neither a request of the wrong shape nor a mistake in this package may become an accept.
    const what = error instanceof Error ? error.message : String(error);
    return evaluation(refusal("internal-error", `the request could not be judged: ${what}`));
  }
}

/** The workspace as a request sees it. */
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
 * Whether another policy lets a request be allowed. A command that is not understood may be allowed by a rule, if the outer
 * policy lets code of the project run: that could do the same.
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
    case "command":
      return withRest(evaluateCommand(request, context), request, context);
    case "fileChange":
      return evaluateFileChange(request, context);
    case "network":
      return evaluateTarget(request, policy);
    case "permissions":
      return evaluatePermissions(request.permissions, context);
    case "mcpTool":
      return evaluateMcpTool(request, policy);
    case "elicitation": {
      const reason = `the server ${request.server} asks the person for something`;
      return evaluation(cautionVerdict("elicitation", reason, policy));
    }
    case "unknown":
      return evaluation(refusal("unknown-kind", `requests of the kind ${request.method} are not known`));
    default:
      return evaluation(refusal("unknown-kind", "a kind of request that is not known"));
  }
}

/** What a command asks for besides running: a host, or more rights than the sandbox gives. */
function withRest(
  command: PolicyEvaluation,
  { network, additionalPermissions }: CommandRequest,
  context: JudgeContext,
): PolicyEvaluation {
  // The question is about the host; the command was settled before. It still can't be one that is refused.
  if (network !== undefined)
    return isRefused(command)
      ? command
      : { ...evaluateTarget(network, context.policy), parse: command.parse };
  if (additionalPermissions === undefined) return command;
  // A command gets all it asks for or nothing: a part of it can't be expressed in the answer.
  const { verdicts } = judgePermissions(additionalPermissions, context);
  return evaluation(verdicts.reduce<Verdict>(pickStricter, command), { parse: command.parse });
}
