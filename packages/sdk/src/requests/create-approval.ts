import { splitReason } from "./decisions.ts";
import type { AnyApproval, HandlerContext, ServerRequestHandlers } from "./handlers.ts";
import type { Answer, Ask, OpenRequest } from "./open-request.ts";
import type { ApprovalRequestedEvent } from "./request-events.ts";

interface ApprovalSource<Approval extends AnyApproval> {
  /** First argument of the handlers. */
  readonly approval: Approval;
  /** Name of the handler for this kind of approval. */
  readonly handler: HandlerNameFor<Approval>;
  /** Converts a handler's decision to an answer. Throws if it is invalid. */
  readonly parse: (decision: unknown, reason: string | undefined) => Answer;
  readonly refuse: (reason: string) => Answer;
}

/** Names of the handlers that accept this approval. */
type HandlerNameFor<Approval> = {
  [Name in keyof ServerRequestHandlers]-?: Required<ServerRequestHandlers>[Name] extends (
    approval: Approval,
    context: HandlerContext,
  ) => unknown
    ? Name
    : never;
}[keyof ServerRequestHandlers];

/** An approval of any kind. The handler of its kind is asked first, then `approve`; either may pass. */
export function createApproval<Approval extends AnyApproval>(source: ApprovalSource<Approval>): OpenRequest {
  const { approval, handler, parse, refuse } = source;
  const { threadId, turnId } = approval;
  return {
    threadId,
    turnId,
    timed: true,
    requested: requestedBy(approval),
    asks: (handlers) => [ask(handlers, handler, approval), ask(handlers, "approve", approval)],
    parse: (value) => {
      const { decision, reason } = splitReason(value);
      return decision === "pass" ? "pass" : parse(decision, reason);
    },
    refuse,
  };
}

function requestedBy(approval: AnyApproval): ApprovalRequestedEvent {
  const { kind, requestId, threadId, turnId, params } = approval;
  const place = { threadId, turnId, requestId, ...("itemId" in approval && { itemId: approval.itemId }) };
  // Kind and params match, because they come from the same approval.
  return { type: "approval.requested", ...place, kind, request: params } as ApprovalRequestedEvent;
}

function ask(
  handlers: ServerRequestHandlers,
  handler: keyof ServerRequestHandlers,
  approval: AnyApproval,
): Ask | undefined {
  // Called as a method: the handler may use `this`.
  return handlers[handler] && ((context) => handlers[handler]?.(approval as never, context));
}

/** The `reason` member of an answer, if there is one. */
export function withReason(reason: string | undefined): { readonly reason?: string } {
  return reason === undefined || reason === "" ? {} : { reason };
}
