import { AISDKError } from "@ai-sdk/provider";

/** Stable error codes. Match these, never the message. */
export type CodexModelErrorCode =
  /** A setting of `createCodex` or an option in `providerOptions.codex` is unknown or has an invalid value. */
  | "invalid_options"
  /** The provider was closed. */
  | "closed"
  /** Codex could not be found, started or reached. */
  | "codex_unavailable"
  /** Codex exited, or the connection broke, in the middle of a turn. The next call launches or connects again. */
  | "codex_lost"
  /** The thread named by its id does not exist, or another process has it loaded. */
  | "thread_unavailable"
  /** The turn that requested this approval has ended: it timed out, or its process exited. Nothing was run. */
  | "approval_lost"
  /** Codex rejected the request; see `cause`. */
  | "request_refused";

const marker = Symbol.for("vercel.ai.error.AI_CodexModelError");

/** A tool result that a failed call delivered. The tool has already run, and often must not run again. */
export interface UnusedToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: unknown;
}

/** An error of the provider. Failures of the model's endpoint are `APICallError`s. */
export class CodexModelError extends AISDKError {
  readonly [marker] = true;
  readonly code: CodexModelErrorCode;
  /** Tool results that the call delivered, if Codex exited before its turn could use them. */
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

  /** The same as `is`, by the name that the AI SDK's own errors use. */
  static override isInstance(error: unknown): error is CodexModelError {
    return AISDKError.hasMarker(error, "vercel.ai.error.AI_CodexModelError");
  }
}
