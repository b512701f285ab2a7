import type {
  ApprovalRequestedEvent,
  ApprovalResolvedEvent,
  QuestionRequestedEvent,
  QuestionResolvedEvent,
  RequestOutcome,
} from "codexkit";
import type { SystemEvent, ToolResultEvent, ToolUseEvent } from "../../contract/agent-event.ts";

type Requested = ApprovalRequestedEvent | QuestionRequestedEvent;
type Resolved = ApprovalResolvedEvent | QuestionResolvedEvent;

/** Reports a request of Codex as a `tool_use`, so that a runner sees requests that were answered automatically. */
export function toRequestUse(event: Requested): ToolUseEvent {
  const category = event.type === "approval.requested" ? "approval" : "question";
  return {
    kind: "tool_use",
    toolName: `${category}:${event.kind}`,
    toolUseId: requestUseId(event),
    input: event.request,
    toolCategory: category,
  };
}

/** Reports the outcome, and a denial as a separate event. */
export function toRequestResult(event: Resolved): readonly [ToolResultEvent, ...SystemEvent[]] {
  const category = event.type === "approval.resolved" ? "approval" : "question";
  const { outcome } = event;
  const answer = answerOf(outcome);
  const isError = outcome.by === "withdrawn" || isRefusal(outcome);
  const content = outcome.reason === undefined ? answer : `${answer}: ${outcome.reason}`;
  const result: ToolResultEvent = {
    kind: "tool_result",
    toolUseId: requestUseId(event),
    toolName: `${category}:${event.kind}`,
    content,
    isError,
  };
  const denied = category === "approval" && outcome.by !== "withdrawn" && isError;
  return denied ? [result, { kind: "system", subtype: "approval_denied", message: content }] : [result];
}

function requestUseId({ requestId }: Requested | Resolved): string {
  return `request-${requestId}`;
}

function answerOf({ by, decision, response }: RequestOutcome): string {
  if (by === "withdrawn") return "withdrawn";
  if (typeof decision === "string") return decision;
  return JSON.stringify(decision ?? response ?? by);
}

/** Whether the request was refused. Everything that is not a known accept counts as a refusal. */
function isRefusal({ by, decision, response }: RequestOutcome): boolean {
  if (by === "default") return true;
  if (decision === undefined) return (response as { action?: unknown } | undefined)?.action === "decline";
  if (typeof decision === "string") return !/^accept|^approved/.test(decision);
  if ("permissions" in decision) return Object.keys(decision.permissions).length === 0;
  return (
    "applyNetworkPolicyAmendment" in decision &&
    decision.applyNetworkPolicyAmendment.network_policy_amendment.action === "deny"
  );
}
