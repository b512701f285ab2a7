import { type AnyTool, defineTool, type JsonValue } from "codexkit";
import { webhookToolResult, type WebhookTool, type WebhookToolCall } from "../api/webhook-tool.ts";
import { guardedRequest } from "./guarded-request.ts";
import type { WebhookSettings } from "./limits.ts";
import { signedHeaders } from "../webhook-store/signature.ts";

const DEFAULT_TIMEOUT_MS = 60_000;
const SHOWN_ERROR = 2000;

export interface WebhookToolOptions extends WebhookSettings {
  readonly sessionId: string;
}

/**
 * Creates tools that send each call to their URL and return its response. A failed call is not retried, because the
 * receiver may have carried it out: the model is informed and decides. Throws a `CodexError` for a name or schema that
 * Codex would reject.
 */
export function webhookTools(tools: readonly WebhookTool[], options: WebhookToolOptions): AnyTool[] {
  return tools.map((tool) => webhookTool(tool, options));
}

function webhookTool(
  { name, description, inputSchema, url, secret, timeoutMs = DEFAULT_TIMEOUT_MS }: WebhookTool,
  { sessionId, limits, allowPrivate }: WebhookToolOptions,
): AnyTool {
  return defineTool({
    name,
    description,
    // The schema was parsed from JSON.
    input: inputSchema as Record<string, JsonValue>,
    timeoutMs: timeoutMs + limits.requestTimeoutMs,
    parallel: true,
    execute: async (input: unknown, { threadId, turnId, callId, signal }) => {
      const at = Date.now();
      const call: WebhookToolCall = {
        type: "tool.called",
        at,
        sessionId,
        threadId,
        turnId,
        callId,
        tool: name,
        arguments: input,
      };
      const body = JSON.stringify(call);
      const response = await guardedRequest({
        url,
        // The ID stays the same if Codex repeats the call after a restart of the daemon. It includes the turn, because
        // models reuse call IDs.
        headers: signedHeaders(secret, { id: `${turnId}.${callId}`, at, body }),
        body,
        allowPrivate,
        timeoutMs,
        maxResponseBytes: limits.toolResponseBytes,
        signal,
      });
      const text = response.body.toString();
      if (response.status >= 200 && response.status < 300) return toResult(text);
      throw new Error(`The tool responded with status ${response.status}: ${text.slice(0, SHOWN_ERROR)}`);
    },
  });
}

/** Only data URLs become images. Otherwise, the receiver could refer to a file on this machine. */
function toResult(text: string): unknown {
  const parsed = webhookToolResult.safeParse(parseJson(text));
  if (!parsed.success) return text;
  return parsed.data.content.map((part) => (part.type === "text" ? part.text : { image: part.url }));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
