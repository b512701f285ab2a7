import type { CodexHome } from "../turns/codex-home.ts";

/** The one face on all sides that are compared. */
export interface Contender {
  open(home: CodexHome): Promise<Provider>;
}

export interface Provider extends AsyncDisposable {
  /** One `doGenerate` with a prompt of one message, on a thread of its own. Gives the text. */
  generate(prompt: string): Promise<string>;
  /** The same with `doStream`: the text, as it comes. */
  stream(prompt: string): AsyncIterable<string>;
}

/** The name in the configuration of every contender's codex. */
export const MODEL = "mock-model";

/** The call that the AI SDK makes for `generateText({ prompt })`; V3 and V4 agree on it. */
export function callOptions(text: string): {
  prompt: { role: "user"; content: { type: "text"; text: string }[] }[];
} {
  return { prompt: [{ role: "user", content: [{ type: "text", text }] }] };
}

/** The text of a result; V3 and V4 agree on this too. */
export function textOf({ content }: { content: readonly { type: string; text?: string }[] }): string {
  return content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

/** The text of a stream, as it comes; V3 and V4 agree on this as well. */
export async function* textStream(
  call: PromiseLike<{ stream: ReadableStream<{ type: string; delta?: unknown }> }>,
): AsyncGenerator<string, void, undefined> {
  const { stream } = await call;
  for await (const part of stream) {
    if (part.type === "text-delta" && typeof part.delta === "string") yield part.delta;
  }
}
