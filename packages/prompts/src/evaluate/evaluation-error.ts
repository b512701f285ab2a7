import type { TokenUsage, TurnResult } from "codexkit";
import { PromptError, type PromptErrorCode } from "../errors.ts";
import type { RestoreReport } from "../workspace/restore-paths.ts";

/** The part of an evaluation that failed. */
export type EvaluationPhase =
  /** Before or while the turn was started: launch, authentication, thread or model connection. */
  | "request"
  /** The turn failed while running, or its output does not match the prompt's schema. */
  | "response"
  /** A tool or the sandbox failed and the turn could not recover. */
  | "tool"
  /** A limit was exceeded: tokens, money, time or the account's own limit. */
  | "budget";

/** What an evaluation had produced before it failed. */
export interface PartialEvaluation {
  readonly threadId?: string;
  /** The agent's last message, possibly incomplete. */
  readonly text: string;
  /** Token usage of all turns of this evaluation. */
  readonly usage: TokenUsage;
  /** Results of all turns so far, including the failed one. */
  readonly turns: readonly TurnResult[];
  /** The result of the restore, if `onFailure` is "restore". */
  readonly restored?: RestoreReport;
  /** Path of the debug bundle, if `bundle` is set. */
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

const BRAND = Symbol.for("codexkit.PromptEvaluationError");

/** The error of a failed evaluation, with everything that it had produced. */
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

  /** Whether a value is a `PromptEvaluationError`, including one from another copy of this package. */
  static override is(value: unknown): value is PromptEvaluationError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}
