import type { JsonValue } from "@codexkit/protocol";

export type JsonObject = { readonly [key: string]: JsonValue | undefined };

/** Second argument of a tool's `execute`. */
export interface ToolContext {
  /** Aborts when the result is no longer needed: the turn ended, the connection was lost, or the timeout passed. */
  readonly signal: AbortSignal;
  readonly threadId: string;
  readonly turnId: string;
  /** The id of this call and of its item. */
  readonly callId: string;
  /** The tool's name. */
  readonly tool: string;
}

/** An image as bytes, data URL or file path. Set `mimeType` if neither the bytes nor the file extension reveal it. */
export interface ImagePart {
  readonly image: Uint8Array | string;
  readonly mimeType?: string;
}

/** Audio as bytes, data URL or file path. */
export interface AudioPart {
  readonly audio: Uint8Array | string;
  readonly mimeType?: string;
}

export interface TextPart {
  readonly text: string;
}

/** A part of a result. */
export type ToolPart = TextPart | ImagePart | AudioPart;

/** A result made of text, images and audio. Tools may also return any other JSON value, or nothing. */
export type ToolResult = string | ToolPart | readonly (string | ToolPart)[];

/**
 * A function in this program that the model can call, created by `defineTool`. All tools have this type; only `execute` knows
 * the type of its input.
 */
export interface Tool {
  readonly type: "tool";
  readonly name: string;
  readonly description: string;
  readonly namespace: string | undefined;
  readonly deferLoading: boolean;
  readonly timeoutMs: number;
  readonly parallel: boolean;
  /** The schema of the arguments, as sent to the model. */
  readonly inputSchema: JsonObject;
  /** Validates the arguments, then runs the tool. Rejects with a `ToolInputError` if they are invalid. */
  readonly invoke: (args: unknown, context: ToolContext) => Promise<unknown>;
}

/** Tools grouped under one name and description. */
export interface ToolNamespace {
  readonly type: "namespace";
  readonly name: string;
  readonly description: string;
  readonly tools: readonly Tool[];
}

/** An element of a thread's `tools` option. */
export type AnyTool = Tool | ToolNamespace;

const BRAND = Symbol.for("codexkit.ToolInputError");

/** Thrown if the arguments don't match the tool's schema. The message is for the model. */
export class ToolInputError extends Error {
  override readonly name = "ToolInputError";

  /** Whether a value is a `ToolInputError`, including one from another copy of this package. */
  static is(value: unknown): value is ToolInputError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}
