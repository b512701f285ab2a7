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

/** What Codex asks, as the use of a tool, so that a runner sees the question and its answer even where nobody was asked. */
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

/** How it was answered, and a word of its own for a refusal. */
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

/** Fail closed in the telling too: what is not known to be an accept counts as a refusal. */
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
