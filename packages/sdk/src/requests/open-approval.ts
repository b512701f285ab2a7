import { openAnswer } from "./decisions.ts";
import type { AnyApproval, HandlerContext, ServerRequestHandlers } from "./handlers.ts";
import type { Answer, Ask, OpenRequest } from "./open-request.ts";
import type { ApprovalRequestedEvent } from "./request-events.ts";

interface ApprovalReading<Approval extends AnyApproval> {
  /** What a handler is given. */
  readonly approval: Approval;
  readonly requested: ApprovalRequestedEvent;
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
  const { approval, requested, slot, read, refuse } = reading;
  return {
    threadId: requested.threadId,
    turnId: requested.turnId,
    timed: true,
    requested,
    asks: (handlers) => [ask(handlers, slot, approval), ask(handlers, "approve", approval)],
    read: (value) => {
      const { decision, reason } = openAnswer(value);
      return decision === "pass" ? "pass" : read(decision, reason);
    },
    refuse,
  };
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
