import type { v2 } from "@codexkit/protocol";
import { CodexError, type CodexErrorCode } from "../errors.ts";
import { readFailureReason } from "./failure-reason.ts";

/** Token counts, as reported by Codex. */
export type TokenUsage = v2.TokenUsageBreakdown;

export const NO_TOKENS: TokenUsage = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

/** What a turn did, whether or not it completed. */
export interface TurnResult<Output = unknown> {
  readonly threadId: string;
  readonly turnId: string;
  readonly status: "completed" | "interrupted" | "failed";
  /** The agent's final message. Empty if there is none. */
  readonly finalResponse: string;
  /** All items of the turn, in the order in which they started. */
  readonly items: readonly v2.ThreadItem[];
  /** IDs of items that had not completed at the end of the turn. A background command completes later. */
  readonly openItems: readonly string[];
  /** Tokens of the whole turn. */
  readonly usage: TokenUsage;
  /** Unified diff of all file changes of the turn. Empty if there are none. */
  readonly diff: string;
  readonly plan: readonly v2.TurnPlanStep[];
  readonly durationMs: number | null;
  /** The final message, parsed with the output schema. Undefined without a schema. */
  readonly structured: Output;
}

const BRAND = Symbol.for("codexkit.TurnFailedError");

/** A failed turn, with what it had done until then. */
export class TurnFailedError extends CodexError {
  override readonly name = "TurnFailedError";
  readonly result: TurnResult;
  /**
   * Codex's identifier of the failure, such as `contextWindowExceeded` or `usageLimitExceeded`. Failures for which Codex has no
   * identifier are `maxOutputTokens`, `contentFilter`, `streamDisconnected`, `missingApiKey`, `badRequest` or `other`.
   */
  readonly reason: string | undefined;
  /** HTTP status of the model endpoint, if there was one. */
  readonly httpStatus: number | undefined;
  /** Codex's full error. */
  readonly turnError: v2.TurnError | undefined;

  constructor(
    code: CodexErrorCode,
    message: string,
    result: TurnResult,
    options?: ErrorOptions & { turnError?: v2.TurnError },
  ) {
    super(code, message, options);
    this.result = result;
    this.turnError = options?.turnError;
    const { reason, httpStatus } = readFailureReason(options?.turnError);
    this.reason = reason;
    this.httpStatus = httpStatus;
  }

  static {
    // On the prototype, so that neither the type nor a printed error shows it.
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Whether a value is a `TurnFailedError`, including one from another copy of this package. */
  static override is(value: unknown): value is TurnFailedError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** Returns the text of the last message marked as final, or else of the last message, without the commentary before it. */
export function findFinalResponse(items: readonly v2.ThreadItem[]): string {
  const messages = items.filter((item) => item.type === "agentMessage");
  const final = messages.findLast(({ phase }) => phase === "final_answer") ?? messages.at(-1);
  return final?.text ?? "";
}

/** HTTP status and identifier of missing or refused credentials. */
const UNAUTHORIZED = { httpStatus: 401, reason: "unauthorized" } as const;

/** Adds instructions for logging in to Codex's message if the model endpoint refused the credentials. */
export function withLoginHint(message: string, turnError: v2.TurnError | null): string {
  const { reason, httpStatus } = readFailureReason(turnError);
  if (reason !== UNAUTHORIZED.reason && httpStatus !== UNAUTHORIZED.httpStatus) return message;
  return `${message} The model endpoint refused the credentials. Log in with "codex login", or with codex.account.loginWithApiKey(key); a custom model provider needs the key that its configuration names.`;
}
