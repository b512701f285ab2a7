import type { PathFacts } from "../files/places.ts";
import type { ApprovalRequest } from "../request/request.ts";
import { evaluateIn, placesFor } from "./evaluate.ts";
import type { Policy } from "./policy.ts";

/** The absolute paths on which the judgement of a request depends: what a resolver has to look up. */
export function pathsOf(policy: Policy, request: ApprovalRequest, facts?: PathFacts): string[] {
  const places = placesFor(policy, request, facts);
  try {
    evaluateIn(places, policy, request);
  } catch {
    // A request that can't be judged is refused by `evaluate`; no path makes a difference to that.
    return [];
  }
  return [...places.touched].filter(
    (path) =>
      path.startsWith("/") && !path.includes("\u0000") && !/[*?[{]/.test(path) && !path.startsWith("/~"),
  );
}
