/** What went wrong, as a stable word. Match these, never the message. */
export type CodexErrorCode =
  /** No codex binary was found; the message lists where it was looked for. */
  | "codex_not_found"
  /** Codex could not be started, or died before the handshake; the message has the end of its stderr. */
  | "codex_start_failed"
  /** Codex can't read its configuration; the message names the file, the line and the column. */
  | "invalid_config"
  /** A running server could not be reached, or refused the connection. */
  | "connect_failed"
  /** The codex at hand is older than the oldest release that this package speaks with. */
  | "codex_too_old"
  /** The codex that this program launched died. The next call starts another; threads resume by id. */
  | "app_server_crashed"
  /** The connection to a server that is not ours broke. The next call connects again. */
  | "connection_lost"
  /** This side closed the connection. */
  | "closed"
  /** The caller's signal fired; `cause` is its reason. */
  | "aborted"
  /** A wait reached its limit. */
  | "timeout"
  /** The server refused the call as overloaded, however often it was tried. */
  | "overloaded"
  /** An argument is wrong; nothing was sent. */
  | "invalid_argument"
  /** The input is longer than Codex accepts. */
  | "input_too_large"
  /** A tool's name, namespace or schema is one that Codex refuses. */
  | "invalid_tool"
  /** An output schema is not JSON Schema. */
  | "invalid_schema"
  /** A turn runs on this thread, and the call did not say what to do about it. */
  | "thread_busy"
  /** There is no such thread. */
  | "thread_not_found"
  /** Another process has this thread open for writing: wait, fork it, or only read it. */
  | "thread_locked"
  /** The thread was ephemeral and died with its server. */
  | "thread_lost"
  /** No turn runs that could be steered or interrupted, or it ended meanwhile. */
  | "turn_not_active"
  /** The turn that runs takes no input: it reviews or compacts. */
  | "turn_not_steerable"
  /** There is no such turn. */
  | "turn_not_found"
  /** The turn failed; see `TurnFailedError`. */
  | "turn_failed"
  /** The final message is not what the output schema asked for. */
  | "invalid_output"
  /** The server does not have this model. */
  | "model_not_found"
  /** The server refused the call for another reason; `cause` is a `RemoteError` with its own code and words. */
  | "request_failed";

/** The base of every error that the SDK makes. */
export class CodexError extends Error {
  override readonly name: string = "CodexError";
  readonly code: CodexErrorCode;

  constructor(code: CodexErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
