import type { v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import type { AnyDecision } from "./decisions.ts";
import type { HandlerContext, ServerRequestHandlers } from "./handlers.ts";
import type { AnyResponse, ApprovalRequestedEvent, QuestionRequestedEvent } from "./request-events.ts";

/** A valid answer and what its event reports. */
export interface Answer {
  readonly response: AnyResponse;
  readonly decision?: AnyDecision;
  readonly reason?: string;
  /** Reported instead of the response, if that contains a secret. */
  readonly shown?: AnyResponse;
}

/** Calls one handler. */
export type Ask = (context: HandlerContext) => unknown;

/** A parsed server request: which handlers to ask, how to validate their answers, and how to deny it. */
export interface OpenRequest {
  readonly threadId?: string;
  readonly turnId?: string | null;
  /** The event that announces it. Absent for requests that no user sees. */
  readonly requested?: ApprovalRequestedEvent | QuestionRequestedEvent;
  /** Whether `approvalTimeoutMs` applies to its handlers. */
  readonly timed: boolean;
  /** The handlers of one set that may answer, in the order to ask them. */
  asks(handlers: ServerRequestHandlers): readonly (Ask | undefined)[];
  /** Converts a handler's return value to an answer. Throws if it is invalid. */
  parse(value: unknown): Answer | "pass";
  /** The valid denial. Throws a `RequestFailure` if only an error denies it. */
  refuse(reason: string): Answer;
  /** The answer without a handler, if none is needed. */
  readonly unattended?: () => Answer;
}

/** Finds the item of a request, if it was received. */
export type ItemLookup = (threadId: string, itemId: string) => v2.ThreadItem | undefined;

/** Returns the items of a thread's running turns. */
export type RunningItems = (threadId: string) => readonly v2.ThreadItem[];

/** What the parsers of requests need in addition to the params. */
export interface ParseContext {
  readonly requestId: RequestId;
  readonly itemFor: ItemLookup;
  readonly itemsOf: RunningItems;
  /** Marks a tool call as asked about. Returns false if it already was. */
  readonly claimCall: (threadId: string, itemId: string) => boolean;
  readonly now: () => number;
}
