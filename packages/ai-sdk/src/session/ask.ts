import type { JSONObject, JSONValue } from "@ai-sdk/provider";
import type { ToolResult } from "codexkit";

/** What a person said to an approval. */
export interface PersonsDecision {
  readonly approved: boolean;
  readonly reason: string | undefined;
}

/** What a client's tool gave back; an error is told to the model as one. */
export type ToolOutcome =
  | { readonly type: "result"; readonly result: ToolResult }
  | { readonly type: "error"; readonly message: string };

/** A call of one of the client's tools, which waits for its result. */
export interface ToolAsk {
  readonly kind: "tool";
  /** The id of the call, which its result is known by. */
  readonly id: string;
  readonly toolName: string;
  readonly input: JSONValue;
}

/** Something that Codex may only do when a person says yes. */
export interface ApprovalAsk {
  readonly kind: "approval";
  readonly id: string;
  /** The item that is to be approved; undefined where Codex does not say which. */
  readonly itemId: string | undefined;
  /** The call that a person is shown. */
  readonly toolName: string;
  readonly input: JSONValue;
  /** What else Codex says of it: why, and what may be decided. */
  readonly details: JSONObject;
}

/** Something that a turn waits for from its client. */
export type Ask = ToolAsk | ApprovalAsk;
