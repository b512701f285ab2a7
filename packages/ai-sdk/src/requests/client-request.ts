import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import type { ToolResult } from "codexkit";

/** The user's decision on an approval. */
export interface UserDecision {
  readonly approved: boolean;
  readonly reason: string | undefined;
}

/** The outcome of a client tool. Errors are reported to the model. */
export type ToolOutcome =
  | { readonly type: "result"; readonly result: ToolResult }
  | { readonly type: "error"; readonly message: string };

/** A call to a client tool. */
export interface ToolCallRequest {
  readonly kind: "tool";
  /** The call's id, which its result refers to. */
  readonly id: string;
  readonly toolName: string;
  readonly input: JSONValue;
}

/** A request to do something that needs the user's approval. */
export interface ApprovalRequest {
  readonly kind: "approval";
  readonly id: string;
  /** The item to approve. Undefined if Codex does not specify it. */
  readonly itemId: string | undefined;
  /** Name of the tool call that is shown to the user. */
  readonly toolName: string;
  readonly input: JSONValue;
  /** Further details from Codex: the reason and the available decisions. */
  readonly details: JSONObject;
}

/** A turn's request to its client. */
export type ClientRequest = ToolCallRequest | ApprovalRequest;
