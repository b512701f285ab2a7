import type { InboxRequest } from "../api/approval.ts";
import { allStrings } from "./redact.ts";

const MASKED = "[secret]";

/** Returns an answer without the texts that answer secret questions. */
export function maskAnswer(
  request: InboxRequest,
  answer: Record<string, unknown> | null,
): Record<string, unknown> | null {
  if (request.kind !== "userInput" || answer === null || typeof answer["answers"] !== "object") return answer;
  const secret = secretQuestions(request);
  const answers = Object.entries(answer["answers"] ?? {}).map(([id, value]) => [
    id,
    secret.has(id) ? MASKED : (value as unknown),
  ]);
  return { ...answer, answers: Object.fromEntries(answers) as unknown };
}

/** Returns the texts that answer secret questions. */
export function secretAnswers(
  request: InboxRequest,
  answer: Record<string, unknown> | null,
): readonly string[] {
  const secret = secretQuestions(request);
  return Object.entries(answer?.["answers"] ?? {}).flatMap(([id, value]) =>
    secret.has(id) ? allStrings(value).filter((text) => text !== "") : [],
  );
}

export function hasSecretQuestions(request: InboxRequest): boolean {
  return secretQuestions(request).size > 0;
}

function secretQuestions(request: InboxRequest): ReadonlySet<string> {
  if (request.kind !== "userInput") return new Set();
  return new Set(request.questions.filter(({ isSecret }) => isSecret).map(({ id }) => id));
}
