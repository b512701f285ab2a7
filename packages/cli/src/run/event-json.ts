import type { CodexEvent } from "codexkit";

/** What the errors of the SDK have beside their message. The SDK itself is not loaded here: it would delay the start of codex. */
interface SdkErrorFields {
  readonly code?: string;
  readonly reason?: string;
  readonly httpStatus?: number;
}

/**
 * An event as one line of JSON, with errors as objects. The message of the app-server is left out where the event repeats it.
 */
export function eventToJson(event: CodexEvent): string {
  const isRaw = event.type === "notice" || event.type === "unknown";
  return JSON.stringify(isRaw ? event : { ...event, raw: undefined }, (_key, value: unknown) => {
    if (!(value instanceof Error)) return value;
    const { code, reason, httpStatus } = value as Error & SdkErrorFields;
    return { code, message: value.message, reason, httpStatus };
  });
}
