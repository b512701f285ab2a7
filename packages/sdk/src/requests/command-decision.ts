import { z } from "zod";
import { type CommandDecision, decisionSchema } from "./decisions.ts";

const commandDecisionSchema: z.ZodType<CommandDecision> = z.union([
  decisionSchema,
  z.strictObject({
    acceptWithExecpolicyAmendment: z.strictObject({ execpolicy_amendment: z.array(z.string()).min(1) }),
  }),
  z.strictObject({
    applyNetworkPolicyAmendment: z.strictObject({
      network_policy_amendment: z.strictObject({
        host: z.string().min(1),
        action: z.enum(["allow", "deny"]),
      }),
    }),
  }),
]);

/** Validates a handler's return value. Throws if it is not a decision. */
export function parseCommandDecision(value: unknown): CommandDecision {
  return commandDecisionSchema.parse(value);
}

/**
 * Limits a decision to what the server offers: the nearest weaker one that is offered, never a stronger one.
 * `decline` is always accepted, although the server never lists it. Older servers send no list; then all are
 * accepted.
 */
export function limitToAvailable(
  wanted: CommandDecision,
  available: readonly CommandDecision[] | null | undefined,
): CommandDecision {
  if (!available || wanted === "decline") return wanted;
  let decision: CommandDecision = wanted;
  while (decision !== "decline" && !isOffered(decision, available)) decision = weaker(decision);
  return decision;
}

function isOffered(wanted: CommandDecision, available: readonly CommandDecision[]): boolean {
  if (typeof wanted === "string") return available.includes(wanted);
  return available.some((offered) => {
    if (typeof offered === "string") return false;
    if ("acceptWithExecpolicyAmendment" in wanted) {
      if (!("acceptWithExecpolicyAmendment" in offered)) return false;
      const words = wanted.acceptWithExecpolicyAmendment.execpolicy_amendment;
      // A longer prefix covers fewer commands, so it is within the offer.
      return offered.acceptWithExecpolicyAmendment.execpolicy_amendment.every(
        (word, index) => word === words[index],
      );
    }
    if (!("applyNetworkPolicyAmendment" in offered)) return false;
    const rule = wanted.applyNetworkPolicyAmendment.network_policy_amendment;
    const offer = offered.applyNetworkPolicyAmendment.network_policy_amendment;
    return offer.host === rule.host && offer.action === rule.action;
  });
}

/** The next weaker decision. An amendment skips `acceptForSession`, which may cover other commands. */
function weaker(decision: Exclude<CommandDecision, "decline">): CommandDecision {
  if (decision === "acceptForSession") return "accept";
  if (decision === "accept" || decision === "cancel") return "decline";
  if ("acceptWithExecpolicyAmendment" in decision) return "accept";
  return decision.applyNetworkPolicyAmendment.network_policy_amendment.action === "allow"
    ? "accept"
    : "decline";
}
