import type { ReadPrompt } from "../prompt/read-prompt.ts";
import type { PersonsDecision, ToolOutcome } from "./ask.ts";
import type { AskDesk } from "./ask-desk.ts";

/** What a call brings for a turn that waits. */
export interface Answers {
  readonly results: readonly { readonly id: string; readonly outcome: ToolOutcome }[];
  readonly decisions: readonly { readonly id: string; readonly decision: PersonsDecision }[];
}

export function answersOf({ toolResults, approvals }: ReadPrompt): Answers {
  return {
    results: toolResults.map((given) => ({ id: given.toolCallId, outcome: toOutcome(given) })),
    decisions: approvals.map(({ approvalId, approved, reason }) => ({
      id: approvalId,
      decision: { approved, reason },
    })),
  };
}

export function giveAnswers(desk: AskDesk, { results, decisions }: Answers): void {
  for (const { id, outcome } of results) desk.giveResult(id, outcome);
  for (const { id, decision } of decisions) desk.giveDecision(id, decision);
}

function toOutcome({ output, result }: ReadPrompt["toolResults"][number]): ToolOutcome {
  switch (output.type) {
    case "error-text":
    case "error-json":
    case "execution-denied":
      return { type: "error", message: typeof result === "string" ? result : JSON.stringify(result) };
    default:
      return { type: "result", result };
  }
}
