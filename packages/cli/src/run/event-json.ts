import type { CodexEvent } from "codexkit";

/**
 * Fields of SDK errors besides the message. The SDK itself is not loaded here, because that would delay the
 * start of codex.
 */
interface SdkErrorFields {
  readonly code?: string;
  readonly reason?: string;
  readonly httpStatus?: number;
}

/**
 * Converts an event to one line of JSON, with errors as objects. Omits the app-server's raw message if the
 * event repeats it.
 */
export function eventToJson(event: CodexEvent): string {
  const isRaw = event.type === "notice" || event.type === "unknown";
  return JSON.stringify(isRaw ? event : { ...event, raw: undefined }, (_key, value: unknown) => {
    if (!(value instanceof Error)) return value;
    const { code, reason, httpStatus } = value as Error & SdkErrorFields;
    return { code, message: value.message, reason, httpStatus };
  });
}
