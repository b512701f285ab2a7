import {
  type AnyApproval,
  type AnyDecision,
  type CommandApproval,
  decisions,
  type FileChangeApproval,
  type McpToolApproval,
} from "codexkit";
import type { InboxAnswer, ApprovalOffer } from "../api/approval.ts";

/** A decision that can be chosen, with the response that Codex receives. */
export interface Offer extends ApprovalOffer {
  readonly decision: AnyDecision;
}

const ACCEPT: Offer = {
  id: "accept",
  label: "Accept",
  accepts: true,
  scope: "call",
  stores: null,
  decision: "accept",
};

const REFUSALS: readonly Offer[] = [
  {
    id: "decline",
    label: "Decline and continue",
    accepts: false,
    scope: "call",
    stores: null,
    decision: "decline",
  },
  {
    id: "cancel",
    label: "Decline and stop the turn",
    accepts: false,
    scope: "call",
    stores: null,
    decision: "cancel",
  },
];

/** Returns the decisions that can be chosen for an approval now. */
export function offersFor(approval: AnyApproval): readonly Offer[] {
  switch (approval.kind) {
    case "command":
      return [ACCEPT, ...commandOffers(approval), ...REFUSALS];
    case "fileChange":
      return [ACCEPT, forSession(fileChangeRule(approval)), ...REFUSALS];
    case "permissions":
      return [
        { ...ACCEPT, stores: "the requested permissions, for this turn" },
        forSession("the requested permissions, for this session"),
        ...REFUSALS,
      ];
    case "mcpTool":
      return [ACCEPT, ...toolOffers(approval), ...REFUSALS];
    case "legacyCommand":
    case "legacyPatch":
      return [ACCEPT, forSession("this request, for this session"), ...REFUSALS];
  }
}

/** Returns Codex's decision for an answer. The answer was checked against the offers before it was stored. */
export function decisionFor(approval: AnyApproval, answer: InboxAnswer): AnyDecision {
  if (answer.type !== "decision") return "decline";
  const offer = offersFor(approval).find(({ id }) => id === answer.offer);
  if (!offer) return "decline";
  if (approval.kind !== "permissions" || !offer.accepts || !answer.grant) return offer.decision;
  const { network, read, write } = answer.grant;
  return decisions.grant(
    {
      ...(network === undefined ? {} : { network: { enabled: network } }),
      ...((read ?? write) ? { fileSystem: { read: read ?? null, write: write ?? null } } : {}),
    },
    { scope: offer.scope === "session" ? "session" : "turn" },
  );
}

function forSession(stores: string): Offer {
  return {
    id: "acceptForSession",
    label: "Accept for this session",
    accepts: true,
    scope: "session",
    stores,
    decision: "acceptForSession",
  };
}

function commandOffers({ network, proposedPrefix, proposedNetworkRules }: CommandApproval): readonly Offer[] {
  const offers = [forSession(network ? `connections to ${network.host}` : "the same command")];
  if (proposedPrefix) {
    offers.push({
      id: "acceptWithPrefix",
      label: "Accept, and allow commands that start like this",
      accepts: true,
      scope: "always",
      stores: proposedPrefix.join(" "),
      decision: decisions.acceptWithPrefix(proposedPrefix),
    });
  }
  for (const { host, action } of proposedNetworkRules) {
    const isAllowed = action === "allow";
    offers.push({
      id: `${action}Host:${host}`,
      label: isAllowed ? `Always allow ${host}` : `Always deny ${host}`,
      accepts: isAllowed,
      scope: "always",
      stores: host,
      decision: isAllowed ? decisions.allowHost(host) : decisions.denyHost(host),
    });
  }
  return offers;
}

function fileChangeRule({ grantRoot, changes }: FileChangeApproval): string {
  if (grantRoot !== undefined) return `changes below ${grantRoot}`;
  return `changes of ${changes?.map(({ path }) => path).join(", ") ?? "the same files"}`;
}

function toolOffers({ server, tool, persist }: McpToolApproval): readonly Offer[] {
  const stores = `${server}: ${tool ?? "this tool"}`;
  const offers = persist.includes("session") ? [forSession(stores)] : [];
  if (!persist.includes("always")) return offers;
  return [
    ...offers,
    {
      id: "acceptAlways",
      label: "Always accept",
      accepts: true,
      scope: "always",
      stores,
      decision: "acceptAlways",
    },
  ];
}
