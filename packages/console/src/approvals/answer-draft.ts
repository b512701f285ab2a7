import type { InboxAnswer } from "@codexkit/daemon/client";
import type { FormValue } from "./form-fields.ts";
import type { QuestionDraft } from "./question-answers.ts";

/** What a person has entered into a card and not sent. It outlives the card, which is drawn anew when lists change. */
export interface AnswerDraft {
  /** Answers by question ID. */
  readonly questions: Readonly<Record<string, QuestionDraft>>;
  /** Values by the name of the field. */
  readonly form: Readonly<Record<string, FormValue>>;
  /** For forms that can't be drawn. */
  readonly json: string;
  /** Keys of ticked permissions. */
  readonly ticked: readonly string[];
  /** What the agent is told with a refusal. */
  readonly reason: string;
  /** The part of the card that is open: the reason of a refusal, or the rule that an offer stores. */
  readonly open: { readonly panel: "decline" | "always"; readonly offerId: string } | null;
  /** The answer that was sent last, with the message that follows it. A repetition sends exactly the same. */
  readonly sent: SentAnswer | null;
}

export interface SentAnswer {
  readonly answer: InboxAnswer;
  /** What the agent is told besides, and the key under which it is said once. */
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
