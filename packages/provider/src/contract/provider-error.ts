/** Codes of rejected calls. How a session ended is in its terminal event instead. */
export type ProviderErrorCode =
  /** The provider does not support this, or can't honour a required field. */
  | "unsupported"
  /** There is no provider with this name. */
  | "no_provider"
  /** The session does not exist. */
  | "session_not_found"
  /** The session is in use by another handle or another process. */
  | "session_busy"
  /** The session could not be started. */
  | "spawn_failed"
  /** The session was not open after `openTimeoutMs`. */
  | "open_timeout"
  /** The agent is missing, broken or too old. Thrown when the provider is created. */
  | "provider_unavailable"
  /** The credentials were rejected, or there are none. */
  | "authentication_failed"
  /** Too many requests. Retry later. */
  | "rate_limited"
  /** The account has no quota or credit left. */
  | "quota_exceeded"
  /** The model's endpoint failed or could not be reached. Retry later. */
  | "server_error"
  /** The spec or the options are invalid: a wrong type, an unknown field, contradictory values. */
  | "invalid_spec"
  /** The idempotency key was used for a different spec. */
  | "idempotency_conflict"
  /** The bytes are not an exported session of this kind of provider. */
  | "invalid_export"
  /** The session has ended and accepts no more text. */
  | "session_ended"
  /** The agent did not accept the injected text. */
  | "inject_failed"
  /** The events of the handle already have a reader. */
  | "events_taken"
  /** The caller's `signal` was aborted. */
  | "context_cancelled"
  /** The provider has been shut down. */
  | "shut_down";

/** Codes for which a retry may succeed without changes. */
const RETRYABLE: ReadonlySet<ProviderErrorCode> = new Set<ProviderErrorCode>([
  "session_busy",
  "open_timeout",
  "rate_limited",
  "server_error",
]);

export interface ProviderErrorOptions extends ErrorOptions {
  /** Default: derived from the code. */
  readonly retryable?: boolean | undefined;
}

/** The JSON form of a `ProviderError`. */
export interface ProviderErrorJson {
  readonly name: "ProviderError";
  readonly code: ProviderErrorCode;
  readonly message: string;
  readonly retryable: boolean;
  /** The message of the cause, if it is an error. */
  readonly cause?: string;
}

/** Marks errors of every copy of this package. */
const BRAND = Symbol.for("@codexkit/provider/ProviderError");

/** The error of rejected calls. Match on `code`; use `ProviderError.is` if several copies of the package may be loaded. */
export class ProviderError extends Error {
  override readonly name = "ProviderError";
  /** Whether a value is a `ProviderError`, including one from another copy of this package. */
  static is(value: unknown): value is ProviderError {
    return value instanceof Error && BRAND in value;
  }

  static {
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  readonly code: ProviderErrorCode;
  /** Whether a retry may succeed without changes. */
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

  /** Includes the message, which `JSON.stringify` omits for errors. */
  toJSON(): ProviderErrorJson {
    const { name, code, message, retryable, cause } = this;
    return { name, code, message, retryable, ...(cause instanceof Error ? { cause: cause.message } : {}) };
  }
}
