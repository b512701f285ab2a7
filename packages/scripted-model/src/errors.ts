/** Stable error codes. */
export type ScriptedModelErrorCode =
  /** The script had no reply for a request. */
  | "script_exhausted"
  /** The script threw, or a promise that it waited for was rejected. */
  | "script_failed"
  /** A reply is invalid, for example an HTTP failure after output. */
  | "invalid_reply"
  /** A request was rejected before it reached the script. */
  | "bad_request"
  /** The endpoint could not be opened. */
  | "listen_failed"
  /** The model was closed during a wait. */
  | "closed"
  /** The awaited request was not received in time. */
  | "wait_timeout"
  /** The caller's signal aborted a wait. */
  | "aborted";

const BRAND = Symbol.for("codexkit.ScriptedModelError");

/** The error class of this package. */
export class ScriptedModelError extends Error {
  override readonly name = "ScriptedModelError";
  readonly code: ScriptedModelErrorCode;

  constructor(code: ScriptedModelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  static {
    // On the prototype, so that it appears neither in the type nor in a printed error.
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Whether a value is a `ScriptedModelError`, including one from another copy of this package. */
  static is(value: unknown): value is ScriptedModelError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}
