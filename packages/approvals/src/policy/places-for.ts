import type { PathFacts } from "../files/path-facts.ts";
import { Places } from "../files/places.ts";
import type { ApprovalRequest } from "../request/request.ts";
import type { Policy } from "./policy.ts";

/** The workspace as a request sees it. */
export function placesFor(policy: Policy, request?: ApprovalRequest, facts?: PathFacts): Places {
  const { roots, temp, home } = policy.workspace;
  const own = request !== undefined && "cwd" in request ? request.cwd : undefined;
  const cwd = own ?? roots[0] ?? "/";
  return new Places({ roots: roots.length > 0 ? roots : [cwd], temp, home, cwd, facts });
}
