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

/** Whatever goes wrong here and is not the model's own failure, which is an `APICallError`. */
export class CodexModelError extends AISDKError {
  readonly [marker] = true;
  readonly code: CodexModelErrorCode;

  constructor(code: CodexModelErrorCode, message: string, options?: { cause?: unknown }) {
    super({ name: "AI_CodexModelError", message, cause: options?.cause });
    this.code = code;
  }

  static override isInstance(error: unknown): error is CodexModelError {
    return AISDKError.hasMarker(error, "vercel.ai.error.AI_CodexModelError");
  }
}
