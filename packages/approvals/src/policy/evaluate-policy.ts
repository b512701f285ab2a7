import type { PathFacts } from "../files/workspace.ts";
import type { ApprovalRequest } from "../request/request.ts";
import { evaluation, type PolicyEvaluation } from "./evaluation.ts";
import { judgeRequest, workspaceFor } from "./judge-request.ts";
import type { Policy } from "./policy.ts";

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
    return evaluation({
      decision: "deny",
      rule: "safety/internal-error",
      reason: `the request could not be judged: ${what}`,
    });
  }
}
