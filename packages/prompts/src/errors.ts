/** Identifies what went wrong. Match `code`, never the message. */
export type PromptErrorCode =
  /** The definition of a prompt, section, tool, slice or resource is invalid. */
  | "invalid_definition"
  /** The parameters do not match the prompt's schema. */
  | "invalid_parameters"
  /** An option is unknown, unsupported or has an invalid value. */
  | "invalid_option"
  /** An evaluation failed; see `PromptEvaluationError`. */
  | "evaluation_failed"
  /** The deadline passed. */
  | "deadline_exceeded"
  /** A budget limit was exceeded. */
  | "budget_exceeded"
  /** The caller's signal aborted the evaluation. */
  | "aborted"
  /** A stored session or snapshot can't be read, or was written by a newer version. */
  | "invalid_snapshot"
  /** The session's file is open in another session. */
  | "session_locked"
  /** Two resources depend on each other, or a resource could not be created. */
  | "invalid_resource"
  /** A mount or path is outside its allowed folders. */
  | "workspace_security"
  /** A mount or workspace exceeds its size limit. */
  | "workspace_too_large"
  /** Another process may have changed a path, so it was not restored. */
  | "workspace_conflict"
  /** A debug bundle can't be read. */
  | "invalid_bundle";

const BRAND = Symbol.for("codexkit.PromptError");

/** Base class of this package's errors. */
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
