import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import type { AnyDecision } from "./decisions.ts";
import type { HandlerContext, ServerRequestHandlers } from "./handlers.ts";
import type { AnyResponse, ApprovalRequestedEvent, QuestionRequestedEvent } from "./request-events.ts";

/** A valid answer, and what the event says about it. */
export interface Answer {
  readonly response: AnyResponse;
  readonly decision?: AnyDecision;
  readonly reason?: string;
  /** What the event shows in place of the response, where that holds a secret. */
  readonly shown?: AnyResponse;
}

/** Asks one handler. */
export type Ask = (context: HandlerContext) => unknown;

/** A request of the server, read: whom to ask, what counts as an answer, and what is said when there is none. */
export interface OpenRequest {
  readonly threadId?: string;
  readonly turnId?: string | null;
  /** What announces it to the program; requests that no person sees have none. */
  readonly requested?: ApprovalRequestedEvent | QuestionRequestedEvent;
  /** Whether `approvalTimeoutMs` holds for its handlers. */
  readonly timed: boolean;
  /** The handlers of one set that may answer, the one to ask first at the front. */
  asks(handlers: ServerRequestHandlers): readonly (Ask | undefined)[];
  /** What a handler returned, as an answer. Throws for what is none. */
  read(value: unknown): Answer | "pass";
  /** The valid denial. Throws a `RequestFailure` where only an error denies. */
  refuse(reason: string): Answer;
  /** What to answer when there is no handler and none is needed. */
  readonly unattended?: () => Answer;
}

/** The item that a request is about, as far as it was seen. */
export type ItemLookup = (threadId: string, itemId: string) => v2.ThreadItem | undefined;

/** The items of the turns of a thread that run. */
export type RunningItems = (threadId: string) => readonly v2.ThreadItem[];

/** What the readers of requests need to know beside the params. */
export interface ReadContext {
  readonly requestId: RequestId;
  readonly itemFor: ItemLookup;
  readonly itemsOf: RunningItems;
  readonly now: () => number;
}
