import type { TurnFailedError } from "codexkit";

/** A failure that Codex reports as `other`. */
export type UnnamedFailure = "streamDisconnected" | "badRequest" | "maxOutputTokens" | "contentFilter";

/**
 * Recognises failures that Codex 0.166 reports as `other` and without a status, by their message. An unrecognised one stays
 * `other`, which is never retried.
 */
export function unnamedFailure({ reason, message }: TurnFailedError): UnnamedFailure | undefined {
  if (reason !== undefined && reason !== "other") return undefined;
  const incomplete = /Incomplete response returned, reason: (\w+)/.exec(message)?.[1];
  if (incomplete === "max_output_tokens") return "maxOutputTokens";
  if (incomplete === "content_filter") return "contentFilter";
  // Codex also reports a `response.failed` with an unknown code in this way, such as `server_error`.
  if (message.startsWith("stream disconnected before completion")) return "streamDisconnected";
  // The body of a response with status 400, the only one that is reported without its status.
  return isJson(message) ? "badRequest" : undefined;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
