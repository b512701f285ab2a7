/** Stable reason of a failure. Match on these, never on the message. */
export type CodexErrorCode =
  /** No codex binary was found. The message lists the places that were searched. */
  | "codex_not_found"
  /** Codex could not be started, or exited before the handshake. The message contains the end of its stderr. */
  | "codex_start_failed"
  /** Codex can't read its configuration. The message names the file, line and column. */
  | "invalid_config"
  /** The server could not be reached, or it refused the connection. */
  | "connect_failed"
  /** The installed codex is older than the oldest supported release. */
  | "codex_too_old"
  /** The launched codex died. The next call starts another one; threads resume by ID. */
  | "app_server_crashed"
  /** The connection to an existing server broke. The next call reconnects. */
  | "connection_lost"
  /** The `Codex` or the thread was closed by this program. */
  | "closed"
  /** The caller's signal was aborted. `cause` is its reason. */
  | "aborted"
  /** A timeout elapsed. */
  | "timeout"
  /** The server refused the call as overloaded, and retries did not help. */
  | "overloaded"
  /** The server is shutting down and starts no threads or turns any more. Nothing was run. A retry after its end reconnects. */
  | "server_closing"
  /** An argument is invalid. Nothing was sent. */
  | "invalid_argument"
  /** The input is longer than Codex accepts. */
  | "input_too_large"
  /** Codex would reject the name, namespace or schema of a tool. */
  | "invalid_tool"
  /** The output schema is not a valid JSON Schema, or not one that strict mode supports. */
  | "invalid_schema"
  /** A turn is already running on this thread, and `whenBusy` is `"reject"`. */
  | "thread_busy"
  /** The thread does not exist. */
  | "thread_not_found"
  /** Another process has this thread open for writing. Wait for it, fork the thread, or only read it. */
  | "thread_locked"
  /** The server was still unloading the thread after 15 seconds of retries. */
  | "thread_closing"
  /** The thread was ephemeral and ended with its server. */
  | "thread_lost"
  /** No turn is running that could be steered or interrupted. */
  | "turn_not_active"
  /** The running turn accepts no input, because it is a review or a compaction. */
  | "turn_not_steerable"
  /** The turn does not exist. */
  | "turn_not_found"
  /** The turn failed. See `TurnFailedError`. */
  | "turn_failed"
  /** The final message does not match the output schema. */
  | "invalid_output"
  /** The server does not offer this model. */
  | "model_not_found"
  /** The server refused the call for another reason. `cause` is a `RemoteError` with the server's code and message. */
  | "request_failed";

const BRAND = Symbol.for("codexkit.CodexError");

/** Base class of every error that the SDK throws. */
export class CodexError extends Error {
  override readonly name: string = "CodexError";
  readonly code: CodexErrorCode;

  constructor(code: CodexErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static {
    // On the prototype, so that neither the type nor a printed error shows it.
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Whether a value is a `CodexError`, including one from another copy of this package. */
  static is(value: unknown): value is CodexError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** The error of a wait whose signal was aborted. */
export function abortedError(signal: AbortSignal): CodexError {
  return new CodexError("aborted", "The operation was aborted.", { cause: signal.reason });
}
