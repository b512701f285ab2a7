import type { Json } from "./json.ts";
import type { FailedPart, HttpPart, IncompletePart } from "./part.ts";

export interface HttpFailure {
  /** Seconds, sent as `retry-after`. */
  readonly retryAfter?: number;
  readonly message?: string;
  /** `error.code` of the body. Some codes change how Codex treats a status, such as `insufficient_quota` with 429. */
  readonly code?: string;
  /** Replaces the whole body. */
  readonly body?: Json;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The codes of `response.failed` that Codex 0.166 distinguishes. It treats any other as a disconnected stream. */
export type FailureCode =
  | "context_length_exceeded"
  | "insufficient_quota"
  | "rate_limit_exceeded"
  | "server_is_overloaded"
  | "usage_not_included"
  | "invalid_prompt"
  | "cyber_policy";

const codeOfStatus: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "invalid_api_key",
  403: "forbidden",
  404: "not_found",
  429: "rate_limit_exceeded",
  500: "server_error",
  503: "server_error",
};

const messages: Readonly<Record<FailureCode, string>> = {
  context_length_exceeded: "Your input exceeds the context window of this model.",
  insufficient_quota: "You exceeded your current quota.",
  rate_limit_exceeded: "Rate limit reached. Please try again in 1s.",
  server_is_overloaded: "The server is overloaded.",
  usage_not_included: "Usage is not included in your plan.",
  invalid_prompt: "Invalid prompt.",
  cyber_policy: "Refused by policy.",
};

/** Failures of the model. */
export const fail = {
  /** Responds with an HTTP failure instead of a stream. Must precede any output. */
  http(status: number, options: HttpFailure = {}): HttpPart {
    const { retryAfter, message = `Scripted HTTP ${status}`, headers = {} } = options;
    const code = options.code ?? codeOfStatus[status] ?? "error";
    return {
      kind: "http",
      status,
      headers: { ...(retryAfter !== undefined && { "retry-after": String(retryAfter) }), ...headers },
      body: options.body ?? { error: { type: code, code, message, param: null } },
    };
  },

  /** Ends the stream with `response.failed`. */
  response(code: FailureCode | (string & {}), message?: string): FailedPart {
    return { kind: "failed", code, message: message ?? knownMessage(code) ?? `Scripted failure: ${code}` };
  },

  /** Ends the stream with `response.incomplete`. */
  incomplete(
    reason: "max_output_tokens" | "content_filter" | (string & {}) = "max_output_tokens",
  ): IncompletePart {
    return { kind: "incomplete", reason };
  },
} as const;

function knownMessage(code: string): string | undefined {
  return Object.hasOwn(messages, code) ? messages[code as FailureCode] : undefined;
}
