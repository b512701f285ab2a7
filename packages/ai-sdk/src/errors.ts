import { AISDKError } from "@ai-sdk/provider";

/** Stable error codes. Match these, never the message. */
export type CodexModelErrorCode =
  /** A setting of `createCodex` or an option of `providerOptions.codex` is unknown or invalid. */
  | "invalid_options"
  /** The provider was closed. */
  | "closed"
  /** Codex could not be found, started or reached. */
  | "codex_unavailable"
  /** Codex exited or the connection broke during a turn. The next call launches or connects again. */
  | "codex_lost"
  /** No thread has the given id, or another process has loaded that thread. */
  | "thread_unavailable"
  /** The turn that requested this approval has ended, because it timed out or its process exited. Nothing was run. */
  | "approval_lost"
  /** Codex rejected the request; see `cause`. */
  | "request_refused";

const marker = Symbol.for("vercel.ai.error.AI_CodexModelError");

/** A tool result that was passed to a failed call. The tool has already run, and often must not run again. */
export interface UnusedToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: unknown;
}

/** An error of this provider. Failures of the model's endpoint are `APICallError`s instead. */
export class CodexModelError extends AISDKError {
  readonly [marker] = true;
  readonly code: CodexModelErrorCode;
  /** Tool results that were passed to the call, if Codex exited before its turn could use them. */
  readonly toolResults: readonly UnusedToolResult[];

  constructor(
    code: CodexModelErrorCode,
    message: string,
    options?: { readonly cause?: unknown; readonly toolResults?: readonly UnusedToolResult[] },
  ) {
    super({ name: "AI_CodexModelError", message, cause: options?.cause });
    this.code = code;
    this.toolResults = options?.toolResults ?? [];
  }

  /** Whether a value is a `CodexModelError`, including one from another copy of this package. */
  static is(error: unknown): error is CodexModelError {
    return CodexModelError.isInstance(error);
  }

  /** Alias of `is`, under the name that the AI SDK's own errors use. */
  static override isInstance(error: unknown): error is CodexModelError {
    return AISDKError.hasMarker(error, "vercel.ai.error.AI_CodexModelError");
  }
}
