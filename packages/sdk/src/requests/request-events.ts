import type { ServerRequests, v1, v2 } from "@codexkit/protocol";
import type { RequestId } from "@codexkit/rpc";
import type { AnyDecision } from "./decisions.ts";

/** What may need an approval, and the request as the server sent it. */
export interface ApprovalParams {
  readonly command: v2.CommandExecutionRequestApprovalParams;
  readonly fileChange: v2.FileChangeRequestApprovalParams;
  readonly permissions: v2.PermissionsRequestApprovalParams;
  readonly mcpTool: v2.McpServerElicitationRequestParams;
  readonly legacyCommand: v1.ExecCommandApprovalParams;
  readonly legacyPatch: v1.ApplyPatchApprovalParams;
}

/** What may be asked of a person, and the request as the server sent it. */
export interface QuestionParams {
  readonly userInput: v2.ToolRequestUserInputParams;
  readonly elicitation: v2.McpServerElicitationRequestParams;
}

export type ApprovalKind = keyof ApprovalParams;
export type QuestionKind = keyof QuestionParams;

/** Where a request belongs. `turnId` is null where the server could not tell, or speaks its old protocol. */
interface Place {
  readonly threadId: string;
  readonly turnId: string | null;
  readonly itemId?: string;
  readonly requestId: RequestId;
}

/** Any answer that a client may give. */
export type AnyResponse = ServerRequests[keyof ServerRequests]["result"];

/** How a request ended; each ends exactly once. */
export interface RequestOutcome {
  /**
   * Who ended it: a `handler` of this client, the `default` denial (nobody answered, or not validly), an `otherClient` of
   * the same thread, or nobody: it was `withdrawn` because its turn or the connection ended.
   */
  readonly by: "handler" | "default" | "otherClient" | "withdrawn";
  /** The decision that was sent, after it was cut down to what the server offers. Approvals only. */
  readonly decision?: AnyDecision;
  /** The answer as it was sent; what a person typed as a secret is masked. */
  readonly response?: AnyResponse;
  /** Why: the handler's own words, or what went wrong. */
  readonly reason?: string;
}

/** The server waits for a decision. */
export type ApprovalRequestedEvent = {
  readonly [K in ApprovalKind]: Place & {
    readonly type: "approval.requested";
    readonly kind: K;
    readonly request: ApprovalParams[K];
  };
}[ApprovalKind];

/** It waits no longer. */
export interface ApprovalResolvedEvent extends Place {
  readonly type: "approval.resolved";
  readonly kind: ApprovalKind;
  readonly outcome: RequestOutcome;
}

/** The model, or an MCP server, waits for a person's words. */
export type QuestionRequestedEvent = {
  readonly [K in QuestionKind]: Place & {
    readonly type: "question.requested";
    readonly kind: K;
    readonly request: QuestionParams[K];
  };
}[QuestionKind];

/** It waits no longer. */
export interface QuestionResolvedEvent extends Place {
  readonly type: "question.resolved";
  readonly kind: QuestionKind;
  readonly outcome: RequestOutcome;
}

/** A request of the server was refused although nobody decided to refuse it. */
export interface RequestWarningEvent {
  readonly type: "warning";
  /**
   * `unanswered_request`: no handler took it. `request_handler_failed`: one threw, returned what is no answer, or took too
   * long. `unknown_request`: this release knows no such request, or could not read it.
   */
  readonly kind: "unanswered_request" | "request_handler_failed" | "unknown_request";
  readonly threadId?: string;
  readonly turnId?: string;
  readonly message: string;
}

/** Everything that the broker tells. */
export type RequestEvent =
  | ApprovalRequestedEvent
  | ApprovalResolvedEvent
  | QuestionRequestedEvent
  | QuestionResolvedEvent
  | RequestWarningEvent;
