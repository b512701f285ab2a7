import type { Approval, ApprovalOffer, InboxAnswer } from "@codexkit/daemon/client";

/** The action of a key on a card. */
export type CardKey = "once" | "session" | "always" | "decline";

/** A button of a card. */
export interface CardAction {
  readonly offer: ApprovalOffer;
  readonly label: string;
  readonly key: CardKey | null;
  /** Opens a panel with the rule or the reason first, instead of sending the answer immediately. */
  readonly opens: "always" | "decline" | null;
}

/** Returns the buttons for the offers of an approval: refusals first, then permissions, from the narrowest to the widest. */
export function cardActions({ offers, kind }: Pick<Approval, "offers" | "kind">): readonly CardAction[] {
  const used = new Set<CardKey>();
  const claim = <Key extends CardKey>(key: Key): Key | null => {
    if (used.has(key)) return null;
    used.add(key);
    return key;
  };
  const actions = offers.map((offer): CardAction => {
    if (!offer.accepts) {
      if (offer.scope === "always") return { offer, label: `${offer.label}…`, key: null, opens: "always" };
      return offer.id === "cancel"
        ? { offer, label: "Decline and stop the turn", key: null, opens: null }
        : { offer, label: "Decline…", key: claim("decline"), opens: "decline" };
    }
    switch (offer.scope) {
      case "call":
        return {
          offer,
          label: kind === "permissions" ? "Grant for this turn" : "Allow once",
          key: claim("once"),
          opens: null,
        };
      case "session":
        return {
          offer,
          label: kind === "permissions" ? "Grant for the session" : "Allow for the session",
          key: claim("session"),
          opens: null,
        };
      case "always":
        return { offer, label: alwaysLabel(offer), key: claim("always"), opens: "always" };
    }
  });
  return actions.toSorted((one, other) => rank(one) - rank(other));
}

function alwaysLabel({ id, stores }: ApprovalOffer): string {
  return id.startsWith("allowHost:") ? `Always allow ${stores ?? "this host"}…` : "Always…";
}

function rank({ offer }: CardAction): number {
  if (!offer.accepts) return offer.id === "cancel" ? 1 : offer.scope === "always" ? 2 : 0;
  return { call: 3, session: 4, always: 5 }[offer.scope];
}

/** Describes what is stored, and where, in one sentence. */
export function describeStored({ offer }: CardAction, kind: Approval["kind"]): string {
  const where =
    offer.scope === "always"
      ? "in the configuration of the daemon's Codex, for all sessions"
      : "for this session";
  const what =
    kind === "command" && offer.id === "acceptWithPrefix" ? "Commands that start with this" : "This";
  return `${what} ${offer.accepts ? "will be allowed" : "will be denied"} without asking, ${where}:`;
}

/** Whether an answer allows something. */
export function isAccepting({ offers }: Pick<Approval, "offers">, answer: InboxAnswer): boolean {
  if (answer.type === "answers") return false;
  if (answer.type === "elicitation") return answer.action === "accept";
  return offers.some(({ id, accepts }) => id === answer.offer && accepts);
}
