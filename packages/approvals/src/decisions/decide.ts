import type { PathFacts } from "../files/places.ts";
import { evaluate } from "../policy/evaluate.ts";
import type { Evaluation } from "../policy/evaluation.ts";
import type { Policy } from "../policy/policy.ts";
import { readRequest, type WireRequest } from "../request/read-request.ts";
import type { ApprovalRequest } from "../request/request.ts";
import type { Outcome, WireResponse } from "./outcome.ts";
import { respond } from "./respond.ts";

export interface Decided {
  readonly request: ApprovalRequest;
  readonly verdict: Evaluation;
  /** What to send. Undefined when the verdict is `ask`, or when the method has no refusal in its own shape. */
  readonly response: WireResponse | undefined;
}

/**
 * Judges a server request and gives the exact answer for it.
 *
 * @example
 * const { response, verdict } = decide(policy, { method, params });
 * if (verdict.decision === "ask") await askSomebody(verdict);
 */
export function decide(policy: Policy, wire: WireRequest, facts?: PathFacts): Decided {
  const request = readRequest(wire);
  const verdict = evaluate(policy, request, facts);
  if (verdict.decision === "ask") return { request, verdict, response: undefined };
  return { request, verdict, response: respond(wire, verdict, policyOutcome(policy, verdict)) };
}

/** The outcome when the policy decides by itself. */
export function policyOutcome(policy: Policy, verdict: Evaluation): Outcome {
  if (verdict.decision === "allow") return { decision: "allow", lasting: verdict.lasting };
  return { decision: "deny", cancel: policy.onDeny === "cancel", reason: verdict.reason };
}
