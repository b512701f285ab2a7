import { RemoteError, RPC_CODES, RpcError } from "@codexkit/rpc";
import { CodexError, type CodexErrorCode } from "../errors.ts";

/** The call that failed. */
export interface FailedCall {
  readonly method: string;
  /** Whether the server is a child of ours, which changes what its end is called. */
  readonly launched: boolean;
}

/** JSON-RPC's "invalid params": Codex says it of values that exclude each other. */
const INVALID_PARAMS = -32602;

/**
 * What Codex 0.166 says, and what it means. Codex has one code, -32600, for nearly everything, so the words decide: this
 * is the only place that reads them, and its test asks the real codex for each, so that a release with other words fails
 * there and not at a user's. The first that matches counts; a hint follows Codex's own words.
 */
const MEANINGS: readonly { readonly says: RegExp; readonly code: CodexErrorCode; readonly hint?: string }[] =
  [
    {
      says: /already has an active writer/,
      code: "thread_locked",
      hint: "Another process has this thread open. Wait until it lets go, fork the thread, or only read it.",
    },
    {
      says: /\bthread not (?:found|loaded): |no (?:archived )?rollout found for thread id |\binvalid (?:thread|session) id: /,
      code: "thread_not_found",
    },
    { says: /\bturn not found: |: queue is empty|queued submission not found: /, code: "turn_not_found" },
    { says: /thread already has an active or pending turn/, code: "thread_busy" },
    {
      says: /ephemeral thread does not support queued submissions/,
      code: "invalid_argument",
      hint: 'Pass whenBusy: "wait", which keeps the input on this side.',
    },
    { says: /no active turn to |expected active turn id /, code: "turn_not_active" },
    { says: /cannot steer a \w+ turn|ActiveTurnNotSteerable/, code: "turn_not_steerable" },
    { says: /\bdynamic tool\b/, code: "invalid_tool" },
    {
      says: /requires experimentalApi capability/,
      code: "request_failed",
      hint: "Allow it with the option experimentalApi: true.",
    },
    {
      says: /AbsolutePathBuf deserialized without a base path/,
      code: "invalid_argument",
      hint: "A path must be absolute.",
    },
    // The server names all its methods, thousands of characters: `tooLong` cuts them.
    {
      says: /Invalid request: unknown variant `[^`]*\/[^`]*`, expected one of `initialize`/,
      code: "request_failed",
    },
    {
      says: /failed to load configuration: \S*config\.toml:\d+/,
      code: "invalid_config",
      hint: "Correct the file, or set another codexHome.",
    },
    { says: /Invalid request: |failed to load configuration: /, code: "invalid_argument" },
    { says: /remote image URLs are not supported|cannot be combined with/, code: "invalid_argument" },
  ];

/** What went wrong on this side of the connection. */
const RPC_MEANINGS: Readonly<Partial<Record<RpcError["code"], CodexErrorCode>>> = {
  aborted: "aborted",
  timeout: "timeout",
  connect_failed: "connect_failed",
  queue_full: "overloaded",
  message_too_large: "invalid_argument",
  unserializable: "invalid_argument",
};

/** The words of `Peer.close`; rpc has one code for all ends, and only this side knows that it wanted this one. */
const CLOSED_BY_US = "The connection was closed by this side.";

/** Whatever a call to the server failed with, as an error with a code to act on. */
export function toCodexError(error: unknown, call: FailedCall): CodexError {
  if (CodexError.is(error)) return error;
  if (error instanceof RemoteError) return fromRemote(error);
  if (error instanceof RpcError) return fromRpc(error, call);
  const why = error instanceof Error ? error.message : String(error);
  return new CodexError("request_failed", `${call.method} failed: ${why}`, { cause: error });
}

function fromRpc(error: RpcError, { launched }: FailedCall): CodexError {
  if (error.code === "closed") {
    const lost = launched ? "app_server_crashed" : "connection_lost";
    return new CodexError(error.message === CLOSED_BY_US ? "closed" : lost, error.message, { cause: error });
  }
  const code = RPC_MEANINGS[error.code] ?? "request_failed";
  // Of an abort the caller's own reason is the cause.
  return new CodexError(code, error.message, { cause: code === "aborted" ? error.cause : error });
}

function fromRemote(error: RemoteError): CodexError {
  const { code, hint } = meaningOf(error);
  const words = tooLong(error.message);
  return new CodexError(code, hint === undefined ? words : `${words}. ${hint}`, { cause: error });
}

function meaningOf(error: RemoteError): { readonly code: CodexErrorCode; readonly hint?: string } {
  if (error.rpcCode === RPC_CODES.overloaded) return { code: "overloaded" };
  const { data } = error;
  if (typeof data === "object" && data !== null && "input_error_code" in data) {
    if (data.input_error_code === "input_too_large") return { code: "input_too_large" };
  }
  const meaning = MEANINGS.find(({ says }) => says.test(error.message));
  return meaning ?? { code: error.rpcCode === INVALID_PARAMS ? "invalid_argument" : "request_failed" };
}

/** How much of Codex's words an error shows; `cause` has them all. */
const SHOWN_CHARACTERS = 500;

function tooLong(words: string): string {
  return words.length > SHOWN_CHARACTERS ? `${words.slice(0, SHOWN_CHARACTERS)}…` : words;
}
