import type { Approval } from "@codexkit/daemon/client";
import { formatDuration } from "../ui/format.ts";
import { visibleText } from "../ui/visible-text.ts";

/** Whether a request can be answered. */
export function isAnswerable({ state }: Pick<Approval, "state">): boolean {
  return state === "open" || state === "parked";
}

export type OutcomeTone = "allowed" | "declined" | "ended";

export interface Outcome {
  readonly text: string;
  readonly tone: OutcomeTone;
}

/**
 * Describes the outcome of a request in one line. Null while the request is open. `viewer` is the token of this page.
 */
export function describeOutcome(approval: Approval, viewer?: { readonly id: string }): Outcome | null {
  const { state, note, answeredAt, answeredBy, answeredByName, createdAt } = approval;
  const because = note === null || note === "" ? "" : `: ${visibleText(note)}`;
  switch (state) {
    case "open":
    case "parked":
      return null;
    case "withdrawn":
      return { text: `No longer needed${because}`, tone: "ended" };
    case "expired":
      return { text: `Expired${because}`, tone: "ended" };
    case "answered":
    case "delivered": {
      const { verb, tone } = describeAnswer(approval);
      const who =
        answeredBy === null
          ? ""
          : answeredBy === viewer?.id
            ? " by you"
            : ` by ${visibleText(answeredByName ?? answeredBy)}`;
      const after = answeredAt === null ? "" : `, ${formatDuration(answeredAt - createdAt)} after asking`;
      const waits = state === "delivered" ? "" : deliveryNote(approval);
      return { text: `${verb}${who}${after}${waits}`, tone };
    }
  }
}

function deliveryNote({ parkedAt }: Approval): string {
  return parkedAt === null
    ? "; on its way to Codex"
    : "; delivered when all requests of its turn have answers";
}

function describeAnswer({ answer, offers, kind }: Approval): {
  readonly verb: string;
  readonly tone: OutcomeTone;
} {
  if (kind === "userInput") return { verb: "Answered", tone: "allowed" };
  if (kind === "elicitation") {
    const isAccepted = answer?.["action"] === "accept";
    return isAccepted ? { verb: "Answered", tone: "allowed" } : { verb: "Declined", tone: "declined" };
  }
  const offer = offers.find(({ id }) => id === answer?.["offer"]);
  if (offer === undefined) return { verb: "Answered", tone: "ended" };
  if (!offer.accepts) {
    return {
      verb:
        offer.id === "cancel"
          ? "Declined, turn stopped"
          : offer.scope === "always"
            ? "Denied always"
            : "Declined",
      tone: "declined",
    };
  }
  const part = answer?.["grant"] === undefined ? "" : " in part";
  const scopes = { call: " once", session: " for the session", always: " always" } as const;
  const scope = kind === "permissions" && offer.scope === "call" ? " for this turn" : scopes[offer.scope];
  return { verb: `Allowed${part}${scope}`, tone: "allowed" };
}

/** Formats a countdown, such as `4:48` or `1:04:48`. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  const rest = String(seconds % 60).padStart(2, "0");
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, "0")}:${rest}`;
}
