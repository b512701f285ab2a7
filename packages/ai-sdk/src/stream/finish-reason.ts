import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import { type CodexError, type TurnEndEvent, TurnFailedError } from "codexkit";

/** Failures that end the text without an error, because the AI SDK has finish reasons for them. */
const ENDINGS: Readonly<Record<string, LanguageModelV4FinishReason["unified"]>> = {
  contextWindowExceeded: "length",
  sessionBudgetExceeded: "length",
  cyberPolicy: "content-filter",
  misalignmentPolicyViolation: "content-filter",
  maxOutputTokens: "length",
  contentFilter: "content-filter",
};

/** Returns a turn's finish reason, with Codex's own code. */
export function finishReason(end: TurnEndEvent): LanguageModelV4FinishReason {
  switch (end.type) {
    case "turn.completed":
      return { unified: "stop", raw: "completed" };
    case "turn.interrupted":
      return { unified: "interrupted", raw: "interrupted" };
    case "turn.failed": {
      const raw = failureOf(end.error);
      return { unified: ENDINGS[raw] ?? "error", raw };
    }
  }
}

function failureOf(error: CodexError): string {
  return (TurnFailedError.is(error) ? error.reason : undefined) ?? error.code;
}
