import { AISDKError } from "@ai-sdk/provider";

/** What went wrong, as a stable word. Match these, never the message. */
export type CodexModelErrorCode =
  /** A setting of `createCodex` or an option in `providerOptions.codex` is not one, or has a wrong value. */
  | "invalid_options"
  /** The provider was closed. */
  | "closed"
  /** Codex could not be found, started or reached. */
  | "codex_unavailable"
  /** Codex died, or the connection to it broke, in the middle of a turn. The next call starts or connects anew. */
  | "codex_lost"
  /** A thread that was asked for by its id is not there, or another process has it. */
  | "thread_unavailable"
  /** The turn that asked for this approval is over: its time was up, or its process is gone. Nothing was run. */
  | "approval_lost"
  /** Codex refused the call; `cause` has its words. */
  | "request_refused";

const marker = Symbol.for("vercel.ai.error.AI_CodexModelError");

/** A tool result that a failed call brought. The tool has run: it need not, and often must not, run again. */
export interface UnusedToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: unknown;
}

/** Whatever goes wrong here and is not the model's own failure, which is an `APICallError`. */
export class CodexModelError extends AISDKError {
  readonly [marker] = true;
  readonly code: CodexModelErrorCode;
  /** Results of tools that the call brought, where Codex died before its turn could use them. */
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

  static override isInstance(error: unknown): error is CodexModelError {
    return AISDKError.hasMarker(error, "vercel.ai.error.AI_CodexModelError");
  }
}
