import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import type { ToolResult } from "codexkit";

/** The user's decision on an approval. */
export interface UserDecision {
  readonly approved: boolean;
  readonly reason: string | undefined;
}

/** What a client's tool returned. An error is reported to the model as one. */
export type ToolOutcome =
  | { readonly type: "result"; readonly result: ToolResult }
  | { readonly type: "error"; readonly message: string };

/** A call of a client tool. */
export interface ToolCallRequest {
  readonly kind: "tool";
  /** The id of the call, which its result refers to. */
  readonly id: string;
  readonly toolName: string;
  readonly input: JSONValue;
}

/** Something that Codex may do only with the user's approval. */
export interface ApprovalRequest {
  readonly kind: "approval";
  readonly id: string;
  /** The item to approve. Undefined if Codex does not name it. */
  readonly itemId: string | undefined;
  /** The tool call that the user sees. */
  readonly toolName: string;
  readonly input: JSONValue;
  /** Further details from Codex: the reason and the available decisions. */
  readonly details: JSONObject;
}

/** A request of a turn to its client. */
export type ClientRequest = ToolCallRequest | ApprovalRequest;
