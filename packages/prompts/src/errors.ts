import type { TokenUsage, TurnResult } from "codexkit";
import type { RestoreReport } from "./workspace/restore-paths.ts";

/** Identifies what went wrong. Match `code`, never the message. */
export type PromptErrorCode =
  /** A prompt, section, tool, slice or resource is defined wrongly. */
  | "invalid_definition"
  /** The parameters do not match the prompt's schema. */
  | "invalid_parameters"
  /** An option of a call is unknown, unsupported or has an invalid value. */
  | "invalid_option"
  /** An evaluation failed; see {@link PromptEvaluationError}. */
  | "evaluation_failed"
  /** The deadline passed. */
  | "deadline_exceeded"
  /** A limit of the budget was exceeded. */
  | "budget_exceeded"
  /** The caller's signal aborted the evaluation. */
  | "aborted"
  /** A stored session or snapshot can't be read, or was written by a newer version. */
  | "invalid_snapshot"
  /** Two resources need each other, or a resource could not be created. */
  | "invalid_resource"
  /** A mount or path leaves the folders it is allowed in. */
  | "workspace_security"
  /** A mount or workspace is larger than its limit. */
  | "workspace_too_large"
  /** A path was changed by someone else, so it was not restored. */
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

  /** Whether a value is a `PromptError`, also one of another copy of this package. */
  static is(value: unknown): value is PromptError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** The part of an evaluation that failed. */
export type EvaluationPhase =
  /** Before or while the turn was started: launch, authentication, thread, connection to the model. */
  | "request"
  /** The turn ran and failed, or its output is not what the prompt asks for. */
  | "response"
  /** A tool or the sandbox failed in a way that the turn could not handle. */
  | "tool"
  /** A limit was exceeded: tokens, money, time, or the account's own limit. */
  | "budget";

/** What an evaluation had produced when it failed. */
export interface PartialEvaluation {
  readonly threadId?: string;
  /** The last message of the agent, possibly incomplete. */
  readonly text: string;
  /** Tokens of all turns of this evaluation. */
  readonly usage: TokenUsage;
  /** Results of the turns so far, the failed one included. */
  readonly turns: readonly TurnResult[];
  /** What became of the workspace, with `onFailure: "restore"`. */
  readonly restored?: RestoreReport;
  /** Path of the debug bundle, with `bundle`. */
  readonly bundle?: string;
}

export interface EvaluationErrorDetails extends ErrorOptions {
  readonly code?: PromptErrorCode;
  readonly phase: EvaluationPhase;
  readonly partial: PartialEvaluation;
  /** Codex's classification, such as `contextWindowExceeded`. */
  readonly reason?: string;
  readonly httpStatus?: number;
  readonly additionalDetails?: string;
}

/** An evaluation that failed, with everything it produced until then. */
export class PromptEvaluationError extends PromptError {
  override readonly name = "PromptEvaluationError";
  readonly phase: EvaluationPhase;
  readonly partial: PartialEvaluation;
  readonly reason: string | undefined;
  readonly httpStatus: number | undefined;
  readonly additionalDetails: string | undefined;

  constructor(message: string, details: EvaluationErrorDetails) {
    super(details.code ?? "evaluation_failed", message, { cause: details.cause });
    this.phase = details.phase;
    this.partial = details.partial;
    this.reason = details.reason;
    this.httpStatus = details.httpStatus;
    this.additionalDetails = details.additionalDetails;
  }
}
