import type { v2 } from "@codexkit/protocol";
import { CodexError, type CodexErrorCode } from "../errors.ts";

/** Tokens, as Codex counts them. */
export type TokenUsage = v2.TokenUsageBreakdown;

export const NO_TOKENS: TokenUsage = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

/** What a turn did, whether it completed or not. */
export interface TurnResult<Output = unknown> {
  readonly threadId: string;
  readonly turnId: string;
  readonly status: "completed" | "interrupted" | "failed";
  /** The agent's final message; empty when it said nothing. */
  readonly finalResponse: string;
  /** Everything that happened in the turn, in the order in which it began. */
  readonly items: readonly v2.ThreadItem[];
  /** Ids of the items that were still open when the turn ended; a background command completes later. */
  readonly openItems: readonly string[];
  /** The tokens of the whole turn. */
  readonly usage: TokenUsage;
  /** The unified diff of everything that the turn changed; empty when it changed nothing. */
  readonly diff: string;
  readonly plan: readonly v2.TurnPlanStep[];
  readonly durationMs: number | null;
  /** The final message as the output schema has it; undefined without a schema. */
  readonly structured: Output;
}

const BRAND = Symbol.for("codexkit.TurnFailedError");

/** A failed turn, with what it had done until then. */
export class TurnFailedError extends CodexError {
  override readonly name = "TurnFailedError";
  readonly result: TurnResult;
  /** Codex's own word for the failure, such as `contextWindowExceeded` or `usageLimitExceeded`. */
  readonly reason: string | undefined;
  /** The HTTP status of the model's endpoint, where there was one. */
  readonly httpStatus: number | undefined;
  /** Codex's whole account of the failure. */
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
    const { reason, httpStatus } = readErrorInfo(options?.turnError?.codexErrorInfo);
    this.reason = reason;
    this.httpStatus = httpStatus;
  }

  static {
    // On the prototype, so that neither the type nor a printed error shows it.
    Object.defineProperty(this.prototype, BRAND, { value: true });
  }

  /** Whether a value is a `TurnFailedError`, also one from another copy of this package. */
  static override is(value: unknown): value is TurnFailedError {
    return typeof value === "object" && value !== null && BRAND in value;
  }
}

/** The text of the last message marked as final, or else of the last message: not the commentary before it. */
export function findFinalResponse(items: readonly v2.ThreadItem[]): string {
  const messages = items.filter((item) => item.type === "agentMessage");
  const final = messages.findLast(({ phase }) => phase === "final_answer") ?? messages.at(-1);
  return final?.text ?? "";
}

/** `"unauthorized"`, or an object such as `{ httpConnectionFailed: { httpStatusCode: 401 } }`: both give a word. */
function readErrorInfo(info: v2.CodexErrorInfo | null | undefined): { reason?: string; httpStatus?: number } {
  if (typeof info === "string") return { reason: info };
  if (typeof info !== "object" || info === null) return {};
  if (Array.isArray(info)) return {};
  const [entry] = Object.entries(info);
  if (entry === undefined) return {};
  const [reason, detail] = entry;
  const status = (detail as { httpStatusCode?: unknown } | null)?.httpStatusCode;
  return typeof status === "number" ? { reason, httpStatus: status } : { reason };
}

/** The HTTP status, and Codex's own word, for credentials that are missing or refused. */
const UNAUTHORIZED = { httpStatus: 401, reason: "unauthorized" } as const;

/** Codex's message for a failed turn; if the model refused the credentials, with how to log in. */
export function withLoginHint(message: string, turnError: v2.TurnError | null): string {
  const { reason, httpStatus } = readErrorInfo(turnError?.codexErrorInfo);
  if (reason !== UNAUTHORIZED.reason && httpStatus !== UNAUTHORIZED.httpStatus) return message;
  return `${message} The model's endpoint refused the credentials. Log in with "codex login", or with codex.account.loginWithApiKey(key); a model provider of your own needs the key that its configuration names.`;
}
