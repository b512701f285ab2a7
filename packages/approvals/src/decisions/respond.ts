import type { Evaluation, Grant } from "../policy/evaluation.ts";
import type { PermissionProfile } from "../request/request.ts";
import type { WireRequest } from "../request/read-request.ts";
import { commandDecision } from "./command-decision.ts";
import type { Outcome, WireResponse } from "./outcome.ts";

/**
 * The exact answer for a request's method. Also for methods that nobody knows: every answer is a valid refusal, or
 * undefined when the method has none, so that the caller answers with an error (which Codex takes for a refusal).
 *
 * @param person Whether a person said yes to what the policy asks about; decides how much of a permission is granted.
 */
export function respond(
  wire: WireRequest,
  evaluation: Evaluation,
  outcome: Outcome,
  person = false,
): WireResponse | undefined {
  switch (wire.method) {
    case "item/commandExecution/requestApproval":
      return { decision: commandDecision(wire, outcome, evaluation.matched) };
    case "item/fileChange/requestApproval":
      if (outcome.decision === "deny") return { decision: outcome.cancel ? "cancel" : "decline" };
      return { decision: outcome.lasting === "call" ? "accept" : "acceptForSession" };
    case "item/permissions/requestApproval":
      return permissions(evaluation.grant, outcome, person);
    case "mcpServer/elicitation/request":
      return elicitation(wire, evaluation, outcome);
    case "execCommandApproval":
    case "applyPatchApproval":
      return { decision: legacy(outcome) };
    case "item/tool/requestUserInput":
      return { answers: {} };
    case "item/tool/call":
      return { contentItems: [{ type: "inputText", text: "refused by policy" }], success: false };
    default:
      return undefined;
  }
}

/** What is granted is never more than what was found to be allowed; nothing at all is `{}`. */
function permissions(grant: Grant | undefined, outcome: Outcome, person: boolean): WireResponse {
  if (outcome.decision === "deny" || grant === undefined) return { permissions: {}, scope: "turn" };
  const granted: PermissionProfile = person ? grant.ifAccepted : grant.allowed;
  return { permissions: granted, scope: outcome.lasting === "call" ? "turn" : "session" };
}

function elicitation(wire: WireRequest, { rule }: Evaluation, outcome: Outcome): WireResponse {
  if (outcome.decision === "deny")
    return { action: outcome.cancel ? "cancel" : "decline", content: null, _meta: null };
  // An empty form is an answer only where the form asks for nothing: a tool's approval.
  if (rule === "caution/elicitation") return { action: "decline", content: null, _meta: null };
  const persist = outcome.lasting === "call" ? undefined : offeredPersistence(wire.params, outcome.lasting);
  return { action: "accept", content: {}, _meta: persist === undefined ? null : { persist } };
}

function offeredPersistence(
  params: unknown,
  lasting: "session" | "always",
): "session" | "always" | undefined {
  const meta = typeof params === "object" && params !== null && "_meta" in params ? params._meta : undefined;
  const persist = typeof meta === "object" && meta !== null && "persist" in meta ? meta.persist : undefined;
  const offered: readonly unknown[] = Array.isArray(persist) ? persist : [persist];
  if (offered.includes(lasting)) return lasting;
  return lasting === "always" && offered.includes("session") ? "session" : undefined;
}

function legacy(outcome: Outcome): unknown {
  if (outcome.decision === "allow") return outcome.lasting === "call" ? "approved" : "approved_for_session";
  return outcome.cancel ? "abort" : { denied: { rejection: outcome.reason } };
}
