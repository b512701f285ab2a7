import type { TokenUsage, TurnResult } from "codexkit";
import { PromptError, type PromptErrorCode } from "../errors.ts";
import type { RestoreReport } from "../workspace/restore-paths.ts";

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
  /** What was restored, with `onFailure: "restore"`. */
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

const BRAND = Symbol.for("codexkit.PromptEvaluationError");

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

  /** Whether a value is a `PromptEvaluationError`, including one from another copy of this package. */
  static override is(value: unknown): value is PromptEvaluationError {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}
