import type { ReadPrompt } from "../prompt/read-prompt.ts";
import type { UserDecision, ToolOutcome } from "../requests/client-request.ts";
import type { ClientRequestBroker } from "../requests/client-request-broker.ts";

/** A call's answers to a waiting turn. */
export interface Answers {
  readonly results: readonly { readonly id: string; readonly outcome: ToolOutcome }[];
  readonly decisions: readonly { readonly id: string; readonly decision: UserDecision }[];
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

export function submitAnswers(broker: ClientRequestBroker, { results, decisions }: Answers): void {
  for (const { id, outcome } of results) broker.submitResult(id, outcome);
  for (const { id, decision } of decisions) broker.submitDecision(id, decision);
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
