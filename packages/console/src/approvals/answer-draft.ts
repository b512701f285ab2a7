import type { FormValue, InboxAnswer } from "@codexkit/daemon/client";
import type { QuestionDraft } from "./question-answers.ts";

/** Unsent input of a card. It is kept when the card is rendered again, which happens when lists change. */
export interface AnswerDraft {
  /** Answers by question ID. */
  readonly questions: Readonly<Record<string, QuestionDraft>>;
  /** Values by the name of the field. */
  readonly form: Readonly<Record<string, FormValue>>;
  /** The JSON of a form whose fields can't be rendered. */
  readonly json: string;
  /** Keys of ticked permissions. */
  readonly ticked: readonly string[];
  /** The message to the agent that accompanies a refusal. */
  readonly reason: string;
  /** The open part of the card: the reason of a refusal, or the rule that an offer stores. */
  readonly open: { readonly panel: "decline" | "always"; readonly offerId: string } | null;
  /** The answer that was sent last, with its message. A retry sends exactly the same. */
  readonly sent: SentAnswer | null;
}

export interface SentAnswer {
  readonly answer: InboxAnswer;
  /** The message that accompanies the answer, and the idempotency key with which it is sent once. */
  readonly message: { readonly text: string; readonly key: string } | null;
}

export const EMPTY_ANSWER: AnswerDraft = {
  questions: {},
  form: {},
  json: "",
  ticked: [],
  reason: "",
  open: null,
  sent: null,
};
