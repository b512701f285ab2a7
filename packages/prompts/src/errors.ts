/** Identifies what went wrong. Match `code`, never the message. */
export type PromptErrorCode =
  /** A prompt, section, tool, slice or resource is defined wrongly. */
  | "invalid_definition"
  /** The parameters do not match the prompt's schema. */
  | "invalid_parameters"
  /** An option of a call is unknown, unsupported or has an invalid value. */
  | "invalid_option"
  /** An evaluation failed; see `PromptEvaluationError`. */
  | "evaluation_failed"
  /** The deadline passed. */
  | "deadline_exceeded"
  /** A limit of the budget was exceeded. */
  | "budget_exceeded"
  /** The caller's signal aborted the evaluation. */
  | "aborted"
  /** A stored session or snapshot can't be read, or was written by a newer version. */
  | "invalid_snapshot"
  /** The file of a session is open in another session. */
  | "session_locked"
  /** Two resources need each other, or a resource could not be created. */
  | "invalid_resource"
  /** A mount or path leaves the folders it is allowed in. */
  | "workspace_security"
  /** A mount or workspace is larger than its limit. */
  | "workspace_too_large"
  /** Another process may have changed a path, so it was not restored. */
  | "workspace_conflict"
  /** A debug bundle can't be read. */
  | "invalid_bundle";

const BRAND = Symbol.for("codexkit.PromptError");

/** Base class of the errors of this package. */
export class PromptError extends Error {
  override readonly name: string = "PromptError";
  readonly code: PromptErrorCode;
  /** Recognises errors across duplicate copies of this package. */
  readonly [BRAND] = true;

  constructor(code: PromptErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }

  /** Whether a value is a `PromptError`, including one from another copy of this package. */
  static is(value: unknown): value is PromptError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}
