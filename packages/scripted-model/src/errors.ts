/** What went wrong; callers match this, never the message. */
export type ScriptedModelErrorCode =
  /** A request came and the script had no reply left for it. */
  | "script_exhausted"
  /** A function script threw, or a promise it waited for was rejected. */
  | "script_failed"
  /** A reply breaks a rule, e.g. an HTTP failure after streaming began. */
  | "invalid_reply"
  /** A request was refused before the script saw it. */
  | "bad_request"
  /** The endpoint could not be opened. */
  | "listen_failed"
  /** The model was closed while something waited on it. */
  | "closed"
  /** The awaited request did not come in time. */
  | "wait_timeout"
  /** The caller's signal ended a wait. */
  | "aborted";

/** The one error class of this package. */
export class ScriptedModelError extends Error {
  override readonly name = "ScriptedModelError";
  readonly code: ScriptedModelErrorCode;

  constructor(code: ScriptedModelErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
