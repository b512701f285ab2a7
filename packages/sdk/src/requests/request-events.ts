import type { ServerRequests, v1, v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import type { AnyDecision } from "./decisions.ts";

/** Params of each kind of approval, as received. */
export interface ApprovalParams {
  readonly command: v2.CommandExecutionRequestApprovalParams;
  readonly fileChange: v2.FileChangeRequestApprovalParams;
  readonly permissions: v2.PermissionsRequestApprovalParams;
  readonly mcpTool: v2.McpServerElicitationRequestParams;
  readonly legacyCommand: v1.ExecCommandApprovalParams;
  readonly legacyPatch: v1.ApplyPatchApprovalParams;
}

/** Params of each kind of question, as received. */
export interface QuestionParams {
  readonly userInput: v2.ToolRequestUserInputParams;
  readonly elicitation: v2.McpServerElicitationRequestParams;
}

export type ApprovalKind = keyof ApprovalParams;
export type QuestionKind = keyof QuestionParams;

/** IDs of a request. `turnId` is null if the server does not know it, or uses its first protocol. */
interface RequestBase {
  readonly threadId: string;
  readonly turnId: string | null;
  readonly itemId?: string;
  readonly requestId: RequestId;
}

/** Any response of a client. */
export type AnyResponse = ServerRequests[keyof ServerRequests]["result"];

/** How a request ended. Each ends exactly once. */
export interface RequestOutcome {
  /**
   * What ended it: a `handler` of this client, the `default` denial (no valid answer), an `otherClient` of the same
   * thread, or it was `withdrawn` because its turn or the connection ended.
   */
  readonly by: "handler" | "default" | "otherClient" | "withdrawn";
  /** The decision that was sent, limited to what the server offers. Approvals only. */
  readonly decision?: AnyDecision;
  /** The response that was sent. Secrets are masked. */
  readonly response?: AnyResponse;
  /** The handler's reason, or what went wrong. */
  readonly reason?: string;
}

/** The server waits for a decision. */
export type ApprovalRequestedEvent = {
  readonly [K in ApprovalKind]: RequestBase & {
    readonly type: "approval.requested";
    readonly kind: K;
    readonly request: ApprovalParams[K];
  };
}[ApprovalKind];

/** The server no longer waits for the decision. */
export interface ApprovalResolvedEvent extends RequestBase {
  readonly type: "approval.resolved";
  readonly kind: ApprovalKind;
  readonly outcome: RequestOutcome;
}

/** The model or an MCP server waits for the user's answer. */
export type QuestionRequestedEvent = {
  readonly [K in QuestionKind]: RequestBase & {
    readonly type: "question.requested";
    readonly kind: K;
    readonly request: QuestionParams[K];
  };
}[QuestionKind];

/** The question no longer waits for an answer. */
export interface QuestionResolvedEvent extends RequestBase {
  readonly type: "question.resolved";
  readonly kind: QuestionKind;
  readonly outcome: RequestOutcome;
}

/** A server request was denied without a decision. */
export interface RequestWarningEvent {
  readonly type: "warning";
  /**
   * `unanswered_request`: no handler answered. `request_handler_failed`: a handler threw, returned an invalid answer
   * or timed out. `unknown_request`: this release does not know the request, or could not parse it.
   */
  readonly kind: "unanswered_request" | "request_handler_failed" | "unknown_request";
  readonly threadId?: string;
  readonly turnId?: string;
  readonly message: string;
}

/** All events about server requests. */
export type RequestEvent =
  | ApprovalRequestedEvent
  | ApprovalResolvedEvent
  | QuestionRequestedEvent
  | QuestionResolvedEvent
  | RequestWarningEvent;
