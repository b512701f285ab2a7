import type { v2 } from "@codexkit/protocol";

/** Codex's identifier of a failure, and the HTTP status of the model endpoint. */
export interface FailureReason {
  readonly reason?: string;
  readonly httpStatus?: number;
}

/**
 * Failures that Codex 0.166 reports as `other` and without a status, so that only the message distinguishes them. The first
 * match counts. Tests of `@codexkit/ai-sdk` and `@codexkit/provider` provoke them with the real codex.
 */
const UNNAMED: readonly (readonly [reason: string, matches: (message: string) => boolean])[] = [
  [
    "maxOutputTokens",
    (message) => message.includes("Incomplete response returned, reason: max_output_tokens"),
  ],
  ["contentFilter", (message) => message.includes("Incomplete response returned, reason: content_filter")],
  // Also a `response.failed` with an unknown code, such as `server_error`.
  ["streamDisconnected", (message) => message.startsWith("stream disconnected before completion")],
  ["missingApiKey", (message) => message.startsWith("Missing environment variable: ")],
  // The body of a response with status 400, the only one that is reported without its status.
  ["badRequest", isJson],
];

/** Reads why a turn failed. */
export function readFailureReason(error: v2.TurnError | null | undefined): FailureReason {
  const info = readErrorInfo(error?.codexErrorInfo);
  const isUnnamed = info.reason === undefined || info.reason === "other";
  if (!isUnnamed || typeof error?.message !== "string") return info;
  const { message } = error;
  const reason = UNNAMED.find(([, matches]) => matches(message))?.[0];
  return reason === undefined ? info : { ...info, reason };
}

/** Accepts both forms: `"unauthorized"`, or an object such as `{ httpConnectionFailed: { httpStatusCode: 401 } }`. */
function readErrorInfo(info: v2.CodexErrorInfo | null | undefined): FailureReason {
  if (typeof info === "string") return { reason: info };
  if (typeof info !== "object" || info === null) return {};
  if (Array.isArray(info)) return {};
  const [entry] = Object.entries(info);
  if (entry === undefined) return {};
  const [reason, detail] = entry;
  const status = (detail as { httpStatusCode?: unknown } | null)?.httpStatusCode;
  return typeof status === "number" ? { reason, httpStatus: status } : { reason };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
