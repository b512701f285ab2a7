import type { PromptResponse } from "@agentclientprotocol/sdk";
import type { AgentCost, ErrorSubtype, ResultEvent } from "../contract/agent-event.ts";
import { failedResult } from "../contract/session-end.ts";
import { usageOfPrompt } from "./events/usage.ts";

type StopReason = PromptResponse["stopReason"];

const FAILURES: Readonly<Record<Exclude<StopReason, "end_turn">, { subtype: ErrorSubtype; why: string }>> = {
  cancelled: { subtype: "execution_failed", why: "The agent cancelled the turn by itself." },
  refusal: { subtype: "refused", why: "The agent refused." },
  max_tokens: { subtype: "token_limit", why: "The agent reached its token limit." },
  max_turn_requests: { subtype: "max_turns", why: "The agent reached its limit of model calls." },
};

/** The data from session updates that the terminal event needs. */
export interface SessionOutcome {
  readonly message: string;
  readonly cost: AgentCost;
  /** Whether the agent reported that its turn failed. */
  readonly failed: boolean;
}

/** The terminal event of a session whose prompt the agent has answered. */
export function endOfPrompt(response: PromptResponse, outcome: SessionOutcome): ResultEvent {
  const { stopReason } = response;
  const { message, failed } = outcome;
  const end = { message, cost: { ...outcome.cost, ...usageOfPrompt(response) }, raw: response };
  if (stopReason === "end_turn" && failed) {
    // The agent puts the reason into a message and reports `end_turn`.
    const why = message.trim() || "The agent reported that its turn failed.";
    return failedResult("execution_failed", why, { ...end, reason: "turn_failed" });
  }
  if (stopReason === "end_turn") return { kind: "result", success: true, errors: [], ...end };
  const { subtype, why } = FAILURES[stopReason];
  return failedResult(subtype, why, { ...end, reason: stopReason });
}
