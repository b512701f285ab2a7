import { openAnswer } from "./decisions.ts";
import type { AnyApproval, HandlerContext, ServerRequestHandlers } from "./handlers.ts";
import type { Answer, Ask, OpenRequest } from "./open-request.ts";
import type { ApprovalRequestedEvent } from "./request-events.ts";

interface ApprovalReading<Approval extends AnyApproval> {
  /** What a handler is given. */
  readonly approval: Approval;
  /** The slot for this kind of approval alone. */
  readonly slot: SlotFor<Approval>;
  /** A decision that a handler gave, as an answer. Throws for what is none. */
  readonly read: (decision: unknown, reason: string | undefined) => Answer;
  readonly refuse: (reason: string) => Answer;
}

/** The slots whose handlers take this approval. */
type SlotFor<Approval> = {
  [Slot in keyof ServerRequestHandlers]-?: Required<ServerRequestHandlers>[Slot] extends (
    approval: Approval,
    context: HandlerContext,
  ) => unknown
    ? Slot
    : never;
}[keyof ServerRequestHandlers];

/** An approval of any kind: its own slot is asked first, then the one for all kinds, and either may pass. */
export function openApproval<Approval extends AnyApproval>(reading: ApprovalReading<Approval>): OpenRequest {
  const { approval, slot, read, refuse } = reading;
  const { threadId, turnId } = approval;
  return {
    threadId,
    turnId,
    timed: true,
    requested: requestedBy(approval),
    asks: (handlers) => [ask(handlers, slot, approval), ask(handlers, "approve", approval)],
    read: (value) => {
      const { decision, reason } = openAnswer(value);
      return decision === "pass" ? "pass" : read(decision, reason);
    },
    refuse,
  };
}

function requestedBy(approval: AnyApproval): ApprovalRequestedEvent {
  const { kind, requestId, threadId, turnId, params } = approval;
  const place = { threadId, turnId, requestId, ...("itemId" in approval && { itemId: approval.itemId }) };
  // The params are those of this kind: each approval has the two together.
  return { type: "approval.requested", ...place, kind, request: params } as ApprovalRequestedEvent;
}

function ask(
  handlers: ServerRequestHandlers,
  slot: keyof ServerRequestHandlers,
  approval: AnyApproval,
): Ask | undefined {
  // Called on its object: a handler may be a method that needs its `this`.
  return handlers[slot] && ((context) => handlers[slot]?.(approval as never, context));
}

/** `reason` as a part of an answer, where there is one. */
export function because(reason: string | undefined): { readonly reason?: string } {
  return reason === undefined || reason === "" ? {} : { reason };
}
