import type { InboxRequest } from "../api/approval.ts";

const MASKED = "[secret]";

/** An answer without the texts that were given to secret questions. */
export function maskAnswer(
  request: InboxRequest,
  answer: Record<string, unknown> | null,
): Record<string, unknown> | null {
  if (request.kind !== "userInput" || answer === null || typeof answer["answers"] !== "object") return answer;
  const secret = new Set(request.questions.filter(({ isSecret }) => isSecret).map(({ id }) => id));
  const answers = Object.entries(answer["answers"] ?? {}).map(([id, value]) => [
    id,
    secret.has(id) ? MASKED : (value as unknown),
  ]);
  return { ...answer, answers: Object.fromEntries(answers) as unknown };
}
