import type { CodexHome } from "../turns/codex-home.ts";

/** The common interface of all compared implementations. */
export interface Contender {
  open(home: CodexHome): Promise<Provider>;
}

export interface Provider extends AsyncDisposable {
  /** Makes one `doGenerate` call with a prompt of one message, on its own thread. Resolves to the text. */
  generate(prompt: string): Promise<string>;
  /** The same with `doStream`. Yields the text as it arrives. */
  stream(prompt: string): AsyncIterable<string>;
}

/** Name of the provider in the configuration of every contender's codex. */
export const MODEL = "mock-model";

/** The call that the AI SDK makes for `generateText({ prompt })`. It is the same in V3 and V4. */
export function callOptions(text: string): {
  prompt: { role: "user"; content: { type: "text"; text: string }[] }[];
} {
  return { prompt: [{ role: "user", content: [{ type: "text", text }] }] };
}

/** Returns the text of a result, which is the same in V3 and V4. */
export function textOf({ content }: { content: readonly { type: string; text?: string }[] }): string {
  return content.map((part) => (part.type === "text" ? (part.text ?? "") : "")).join("");
}

/** Yields the text of a stream as it arrives, which is the same in V3 and V4. */
export async function* textStream(
  call: PromiseLike<{ stream: ReadableStream<{ type: string; delta?: unknown }> }>,
): AsyncGenerator<string, void, undefined> {
  const { stream } = await call;
  for await (const part of stream) {
    if (part.type === "text-delta" && typeof part.delta === "string") yield part.delta;
  }
}
