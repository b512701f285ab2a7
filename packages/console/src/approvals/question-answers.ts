import type { InboxAnswer, InboxRequest } from "@codexkit/daemon/client";

export type Question = Extract<InboxRequest, { kind: "userInput" }>["questions"][number];

/** The chosen or typed answer to one question. */
export interface QuestionDraft {
  /** Label of the chosen option, or null for typed text. */
  readonly option: string | null;
  readonly text: string;
}

export const EMPTY_DRAFT: QuestionDraft = { option: null, text: "" };

/** Whether a question accepts typed text: it has no options, or allows other answers. */
export function takesText({ options, isOther, isSecret }: Question): boolean {
  return isSecret || isOther || (options?.length ?? 0) === 0;
}

/** Options are buttons, except for secrets, which are always typed. */
export function optionsOf({
  options,
  isSecret,
}: Question): readonly { readonly label: string; readonly description: string }[] {
  return isSecret ? [] : (options ?? []);
}

/** The answers, or undefined if a question is unanswered. */
export function toAnswers(
  questions: readonly Question[],
  draftOf: (question: Question) => QuestionDraft,
): Extract<InboxAnswer, { type: "answers" }> | undefined {
  const answers: [string, string[]][] = [];
  for (const question of questions) {
    const { option, text } = draftOf(question);
    const answer = option ?? text;
    if (answer.trim() === "") return undefined;
    answers.push([question.id, [answer]]);
  }
  return { type: "answers", answers: Object.fromEntries(answers) };
}
