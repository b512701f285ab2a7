import type { JsonValue } from "@codexkit/protocol";

export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** What a tool's `execute` gets beside its input. */
export interface ToolContext {
  /** Fires when the result is of no use any more: the turn ended, the connection broke, or the time is up. */
  readonly signal: AbortSignal;
  readonly threadId: string;
  readonly turnId: string;
  /** The id of this call; also that of its item. */
  readonly callId: string;
  /** The tool's name. */
  readonly tool: string;
}

/** Bytes, a data URL, or the path of a file. The type is needed only where neither bytes nor name tell it. */
export interface ImagePart {
  readonly image: Uint8Array | string;
  readonly mimeType?: string;
}

export interface AudioPart {
  readonly audio: Uint8Array | string;
  readonly mimeType?: string;
}

export interface TextPart {
  readonly text: string;
}

/** A part of a result that is more than a value. */
export type ToolPart = TextPart | ImagePart | AudioPart;

/** A result with more than a value in it. Tools may return any other JSON too, or nothing. */
export type ToolResult = string | ToolPart | readonly (string | ToolPart)[];

/**
 * A function in this program that the model may call; `defineTool` makes it. The types of its input are known to `execute`
 * alone: from outside, all tools are alike.
 */
export interface Tool {
  readonly type: "tool";
  readonly name: string;
  readonly description: string;
  readonly namespace: string | undefined;
  readonly deferLoading: boolean;
  readonly timeoutMs: number;
  readonly parallel: boolean;
  /** What the model is told about the arguments. */
  readonly inputSchema: JsonObject;
  /** Checks the arguments, then executes. Rejects with a `ToolInputError` when they don't fit. */
  readonly invoke: (args: unknown, context: ToolContext) => Promise<unknown>;
}

/** Tools under one roof, described together. */
export interface ToolNamespace {
  readonly type: "namespace";
  readonly name: string;
  readonly description: string;
  readonly tools: readonly Tool[];
}

/** What a thread can be given. */
export type AnyTool = Tool | ToolNamespace;

/** The arguments don't fit the tool's schema; the message is for the model. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";
}
