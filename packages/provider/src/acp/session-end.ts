import type { PromptResponse } from "@agentclientprotocol/sdk";
import type { AgentCost, ErrorSubtype, TerminalEvent } from "../contract/agent-event.ts";
import { failedResult as failure } from "../contract/session-end.ts";

type StopReason = PromptResponse["stopReason"];

const FAILURES: Readonly<Record<Exclude<StopReason, "end_turn">, { subtype: ErrorSubtype; why: string }>> = {
  cancelled: { subtype: "execution_failed", why: "The agent cancelled the turn by itself." },
  refusal: { subtype: "refused", why: "The agent refused." },
  max_tokens: { subtype: "token_limit", why: "The agent has no tokens left." },
  max_turn_requests: { subtype: "max_turns", why: "The agent called its model as often as it may." },
};

/** The last event of a session whose agent answered the prompt. */
export function endOfPrompt(response: PromptResponse, message: string, cost: AgentCost): TerminalEvent {
  const { stopReason } = response;
  if (stopReason === "end_turn")
    return { kind: "result", success: true, message, errors: [], cost, raw: response };
  const { subtype, why } = FAILURES[stopReason];
  return { ...failedResult(subtype, why, message, cost), reason: stopReason, raw: response };
}

/** The last event of a session that ran and did not succeed. */
export function failedResult(
  errorSubtype: ErrorSubtype,
  why: string,
  message: string,
  cost: AgentCost,
): Extract<TerminalEvent, { kind: "result" }> {
  return failure(errorSubtype, why, { message, cost });
}
