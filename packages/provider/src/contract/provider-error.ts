/** What went wrong with a call to a provider, for callers to match on. How a session ended is told by its last event. */
export type ProviderErrorCode =
  /** This provider can't do it, or can't honour a field that the spec marks as required. */
  | "unsupported"
  /** No provider of this name is registered. */
  | "no_provider"
  /** There is no such session to resume. */
  | "session_not_found"
  /** The session is in use: another handle has it here, or another process writes to it. */
  | "session_busy"
  /** The agent of this one session could not be started. */
  | "spawn_failed"
  /** The session was not open after `openTimeoutMs`. */
  | "open_timeout"
  /** The agent is missing, broken, or too old: found out when the provider is made. */
  | "provider_unavailable"
  /** The credentials were rejected, or there are none. */
  | "authentication_failed"
  /** Too many requests. Retry later. */
  | "rate_limited"
  /** The account has no quota or credit left. */
  | "quota_exceeded"
  /** The model's endpoint failed or could not be reached. Retry later. */
  | "server_error"
  /** The spec is not one: a wrong type, an unknown field, values that contradict each other. */
  | "invalid_spec"
  /** The idempotency key was used for another spec. */
  | "idempotency_conflict"
  /** The bytes are not an exported session of this kind of provider. */
  | "invalid_export"
  /** The session has ended; nothing can be told to it any more. */
  | "session_ended"
  /** The agent refused the text, or could not be reached with it. */
  | "inject_failed"
  /** The events of a handle have a reader already. */
  | "events_taken"
  /** The caller's `signal` fired before there was a handle. */
  | "context_cancelled"
  /** The provider was shut down. */
  | "shut_down";

/** Codes of failures that may pass without the caller changing anything. */
const RETRYABLE: ReadonlySet<ProviderErrorCode> = new Set<ProviderErrorCode>([
  "session_busy",
  "open_timeout",
  "rate_limited",
  "server_error",
]);

export interface ProviderErrorOptions extends ErrorOptions {
  /** Default: what the code implies. */
  readonly retryable?: boolean | undefined;
}

/** What `JSON.stringify` makes of a `ProviderError`. */
export interface ProviderErrorJson {
  readonly name: "ProviderError";
  readonly code: ProviderErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  /** The message of the cause, if it is an error. */
  readonly cause?: string;
}

/** The error of every call to a provider. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  readonly code: ProviderErrorCode;
  /** Whether the same call may succeed if it is made again later. */
  readonly retryable: boolean;

  constructor(
    code: ProviderErrorCode,
    message: string,
    { retryable, ...options }: ProviderErrorOptions = {},
  ) {
    super(message, options);
    this.code = code;
    this.retryable = retryable ?? RETRYABLE.has(code);
  }

  /** Keeps the message, which `JSON.stringify` drops from errors. */
  toJSON(): ProviderErrorJson {
    const { name, code, message, retryable, cause } = this;
    return { name, code, message, retryable, ...(cause instanceof Error ? { cause: cause.message } : {}) };
  }
}
