import type { TurnFailedError } from "codexkit";

/** What a failure is that Codex gives no name to (`other`). */
export type UnnamedFailure = "streamDisconnected" | "badRequest" | "maxOutputTokens" | "contentFilter";

/**
 * Recognises failures that Codex 0.166 reports as `other`, without a status: its text is all there is to go by. A text that is
 * not recognised stays `other`, which is never retried.
 */
export function unnamedFailure({ reason, message }: TurnFailedError): UnnamedFailure | undefined {
  if (reason !== undefined && reason !== "other") return undefined;
  const incomplete = /Incomplete response returned, reason: (\w+)/.exec(message)?.[1];
  if (incomplete === "max_output_tokens") return "maxOutputTokens";
  if (incomplete === "content_filter") return "contentFilter";
  // Also what Codex makes of a `response.failed` whose code it does not know, such as `server_error`.
  if (message.startsWith("stream disconnected before completion")) return "streamDisconnected";
  // The body of an answer with status 400, as it came: only that one is shown without its status.
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
