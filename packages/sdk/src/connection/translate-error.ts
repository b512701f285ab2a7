import { RemoteError, RPC_CODES, RpcError } from "@codexkit/rpc";
import { messageOf } from "@codexkit/rpc/async";
import { CodexError, type CodexErrorCode } from "../errors.ts";

/** The call that failed. */
export interface FailedCall {
  readonly method: string;
  /** Whether the server is a child process. Determines the error code when the connection is lost. */
  readonly launched: boolean;
}

/** JSON-RPC's "invalid params". Codex uses it for mutually exclusive values. */
const INVALID_PARAMS = -32602;

/**
 * Error messages of Codex 0.166 and their codes. Codex uses the code -32600 for nearly everything, so only the
 * message text distinguishes them. A test provokes each message with the real codex, so that a release with other
 * messages fails there. The first match counts. A hint is appended to Codex's message.
 */
const REMOTE_CODES: readonly {
  readonly pattern: RegExp;
  readonly code: CodexErrorCode;
  readonly hint?: string;
}[] = [
  {
    pattern: /already has an active writer/,
    code: "thread_locked",
    hint: "Another process has this thread open. Wait until it closes the thread, fork the thread, or only read it.",
  },
  { pattern: /^\S+: thread \S+ is closing; retry /, code: "thread_closing" },
  {
    pattern:
      /\bthread not (?:found|loaded): |no (?:archived )?rollout found for thread id |\binvalid (?:thread|session) id: /,
    code: "thread_not_found",
  },
  // Codex was killed between creating the file and writing the first message to it.
  { pattern: /\brollout at .+ is empty\b/, code: "thread_not_found" },
  { pattern: /\bturn not found: |: queue is empty|queued submission not found: /, code: "turn_not_found" },
  { pattern: /thread already has an active or pending turn/, code: "thread_busy" },
  {
    pattern: /ephemeral thread does not support queued submissions/,
    code: "invalid_argument",
    hint: 'Pass whenBusy: "wait", which queues the input in this program.',
  },
  { pattern: /no active turn to |expected active turn id /, code: "turn_not_active" },
  { pattern: /cannot steer a \w+ turn|ActiveTurnNotSteerable/, code: "turn_not_steerable" },
  { pattern: /\bdynamic tool\b/, code: "invalid_tool" },
  {
    pattern: /requires experimentalApi capability/,
    code: "request_failed",
    hint: "Enable it with the option experimentalApi: true.",
  },
  {
    pattern: /AbsolutePathBuf deserialized without a base path/,
    code: "invalid_argument",
    hint: "A path must be absolute.",
  },
  // The message lists all methods, in thousands of characters. `shorten` cuts it.
  {
    pattern: /Invalid request: unknown variant `[^`]*\/[^`]*`, expected one of `initialize`/,
    code: "request_failed",
  },
  {
    pattern: /failed to load configuration: \S*config\.toml:\d+/,
    code: "invalid_config",
    hint: "Fix the file, or use another codexHome.",
  },
  { pattern: /Invalid request: |failed to load configuration: /, code: "invalid_argument" },
  { pattern: /remote image URLs are not supported|cannot be combined with/, code: "invalid_argument" },
];

/** Codes of local failures. */
const LOCAL_CODES: Readonly<Partial<Record<RpcError["code"], CodexErrorCode>>> = {
  aborted: "aborted",
  closed_locally: "closed",
  timeout: "timeout",
  connect_failed: "connect_failed",
  queue_full: "overloaded",
  message_too_large: "invalid_argument",
  unserializable: "invalid_argument",
};

/** Converts the failure of a call to a `CodexError`. */
export function toCodexError(error: unknown, call: FailedCall): CodexError {
  if (CodexError.is(error)) return error;
  if (RemoteError.is(error)) return fromRemote(error);
  if (RpcError.is(error)) return fromRpc(error, call);
  const why = messageOf(error);
  return new CodexError("request_failed", `${call.method} failed: ${why}`, { cause: error });
}

function fromRpc(error: RpcError, { launched }: FailedCall): CodexError {
  if (error.code === "closed") {
    const lost = launched ? "app_server_crashed" : "connection_lost";
    return new CodexError(lost, error.message, { cause: error });
  }
  const code = LOCAL_CODES[error.code] ?? "request_failed";
  // The cause of an abort is the caller's own reason.
  return new CodexError(code, error.message, { cause: code === "aborted" ? error.cause : error });
}

function fromRemote(error: RemoteError): CodexError {
  const { code, hint } = codeOf(error);
  const message = shorten(error.message);
  return new CodexError(code, hint === undefined ? message : `${message}. ${hint}`, { cause: error });
}

function codeOf(error: RemoteError): { readonly code: CodexErrorCode; readonly hint?: string } {
  if (error.rpcCode === RPC_CODES.overloaded) return { code: "overloaded" };
  const { data } = error;
  if (typeof data === "object" && data !== null && "input_error_code" in data) {
    if (data.input_error_code === "input_too_large") return { code: "input_too_large" };
  }
  if (typeof data === "object" && data !== null && "reason" in data) {
    if (data.reason === "serverShuttingDown") return { code: "server_closing" };
  }
  const known = REMOTE_CODES.find(({ pattern }) => pattern.test(error.message));
  return known ?? { code: error.rpcCode === INVALID_PARAMS ? "invalid_argument" : "request_failed" };
}

/** Number of characters that the error quotes from Codex's message. `cause` has the whole message. */
const QUOTED_CHARACTERS = 500;

function shorten(text: string): string {
  return text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
}
