import type { WireRequest } from "../request/read-request.ts";
import type { Rule } from "../policy/rule.ts";
import type { Outcome } from "./outcome.ts";

/** The decisions of 0.166 on a command. The inner keys are in snake case on the wire. */
export type CommandDecision =
  | "accept"
  | "acceptForSession"
  | { readonly acceptWithExecpolicyAmendment: { readonly execpolicy_amendment: readonly string[] } }
  | {
      readonly applyNetworkPolicyAmendment: {
        readonly network_policy_amendment: { readonly host: string; readonly action: "allow" | "deny" };
      };
    }
  | "decline"
  | "cancel";

interface Offer {
  readonly available: readonly unknown[] | undefined;
  readonly execpolicy: readonly string[] | undefined;
  readonly network: readonly { readonly host: string; readonly action: string }[];
  readonly host: string | undefined;
}

/**
 * The decision that says as much as the outcome does, among those that Codex offers. `decline` is honoured whether it
 * is offered or not, so a refusal never falls back to anything else.
 */
export function commandDecision(
  wire: WireRequest,
  outcome: Outcome,
  matched: Rule | undefined,
): CommandDecision {
  const offer = readOffer(wire.params);
  if (outcome.decision === "deny") return refusal(outcome, offer, matched);
  if (outcome.lasting === "always")
    return forGood(offer, matched) ?? (isOffered(offer, "acceptForSession") ? "acceptForSession" : "accept");
  return outcome.lasting === "session" && isOffered(offer, "acceptForSession")
    ? "acceptForSession"
    : "accept";
}

function refusal(
  outcome: Extract<Outcome, { decision: "deny" }>,
  offer: Offer,
  matched: Rule | undefined,
): CommandDecision {
  if (outcome.cancel) return "cancel";
  const denies = offer.network.find(({ host, action }) => host === offer.host && action === "deny");
  // A host that a rule refuses for good need not be asked about again.
  if (
    denies !== undefined &&
    matched?.kind === "host" &&
    matched.lasting === "always" &&
    isOffered(offer, "applyNetworkPolicyAmendment")
  )
    return networkAmendment(denies.host, "deny");
  return "decline";
}

function forGood(offer: Offer, matched: Rule | undefined): CommandDecision | undefined {
  if (offer.host !== undefined) {
    const allows = offer.network.find(({ host, action }) => host === offer.host && action === "allow");
    return allows !== undefined && isOffered(offer, "applyNetworkPolicyAmendment")
      ? networkAmendment(allows.host, "allow")
      : undefined;
  }
  if (
    offer.execpolicy === undefined ||
    !isOffered(offer, "acceptWithExecpolicyAmendment") ||
    !covers(matched, offer.execpolicy)
  )
    return undefined;
  return { acceptWithExecpolicyAmendment: { execpolicy_amendment: offer.execpolicy } };
}

function networkAmendment(host: string, action: "allow" | "deny"): CommandDecision {
  return { applyNetworkPolicyAmendment: { network_policy_amendment: { host, action } } };
}

/** Codex remembers a prefix. It may be remembered only if every command with that prefix is what the rule allows. */
function covers(rule: Rule | undefined, amendment: readonly string[]): boolean {
  if (rule?.kind !== "prefix" || amendment.length < rule.argv.length) return false;
  return rule.argv.every((word, index) =>
    typeof word === "string" ? word === amendment[index] : word.includes(amendment[index] ?? ""),
  );
}

function isOffered({ available }: Offer, name: string): boolean {
  return (
    available === undefined ||
    available.some(
      (decision) =>
        decision === name || (typeof decision === "object" && decision !== null && name in decision),
    )
  );
}

function readOffer(params: unknown): Offer {
  const fields = (typeof params === "object" && params !== null ? params : {}) as Readonly<
    Record<string, unknown>
  >;
  const {
    availableDecisions,
    proposedExecpolicyAmendment: execpolicy,
    proposedNetworkPolicyAmendments: network,
    networkApprovalContext: context,
  } = fields;
  const host =
    typeof context === "object" && context !== null && "host" in context ? context.host : undefined;
  return {
    available: Array.isArray(availableDecisions) ? (availableDecisions as readonly unknown[]) : undefined,
    execpolicy:
      Array.isArray(execpolicy) &&
      execpolicy.length > 0 &&
      execpolicy.every((word) => typeof word === "string")
        ? execpolicy
        : undefined,
    network: Array.isArray(network)
      ? (network as Offer["network"]).filter((item) => typeof item?.host === "string")
      : [],
    host: typeof host === "string" ? host : undefined,
  };
}
