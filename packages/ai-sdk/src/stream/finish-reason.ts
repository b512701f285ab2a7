import type { LanguageModelV4FinishReason } from "@ai-sdk/provider";
import { type CodexError, type TurnEndEvent, TurnFailedError } from "codexkit";
import { unnamedFailure } from "./unnamed-failure.ts";

/** Failures that are an end of the text, not an error: the AI SDK has words of its own for them. */
const ENDINGS: Readonly<Record<string, LanguageModelV4FinishReason["unified"]>> = {
  contextWindowExceeded: "length",
  sessionBudgetExceeded: "length",
  cyberPolicy: "content-filter",
  misalignmentPolicyViolation: "content-filter",
  maxOutputTokens: "length",
  contentFilter: "content-filter",
};

/** Why a turn ended, in the AI SDK's words and Codex's own. */
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
  if (!(error instanceof TurnFailedError)) return error.code;
  return unnamedFailure(error) ?? error.reason ?? error.code;
}
