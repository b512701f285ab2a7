import type { JsonObject } from "./json.ts";
import type { ScriptedUsage } from "./part.ts";

/** Encodes a server-sent event. Codex expects the type both as the event name and in the data. */
export function sseEvent(event: JsonObject & { readonly type: string }): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}

/** Returns an encoder for the deltas of one item. Everything but the text is encoded only once. */
export function deltaEncoder(type: string, fields: JsonObject): (delta: string) => string {
  const head = `event: ${type}\ndata: ${JSON.stringify({ type, ...fields }).slice(0, -1)},"delta":`;
  return (delta) => `${head}${JSON.stringify(delta)}}\n\n`;
}

/** Default token counts of a response. Not zero, so that sums can be tested. */
export const defaultUsage: ScriptedUsage = { input: 10, cached: 0, output: 5, reasoning: 0 };

export function usageFields({ input, cached = 0, output, reasoning = 0 }: ScriptedUsage): JsonObject {
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  };
}
