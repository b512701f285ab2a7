import { type CodexEvent, CodexError, TurnFailedError } from "codexkit";

/**
 * An event as one line of JSON, with errors as objects. The message of the app-server is left out where the event repeats it.
 */
export function eventToJson(event: CodexEvent): string {
  const isRaw = event.type === "notice" || event.type === "unknown";
  return JSON.stringify(isRaw ? event : { ...event, raw: undefined }, (_key, value: unknown) => {
    if (!(value instanceof Error)) return value;
    const { message } = value;
    return {
      ...(CodexError.is(value) ? { code: value.code } : {}),
      message,
      ...(TurnFailedError.is(value) ? { reason: value.reason, httpStatus: value.httpStatus } : {}),
    };
  });
}
