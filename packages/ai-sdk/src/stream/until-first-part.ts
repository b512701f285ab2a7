import { APICallError, type LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { AI_SDK_LIMITS } from "../limits.ts";
import { raceAbort } from "@codexkit/rpc/async";

type Part = LanguageModelV4StreamPart;

/** Parts that precede a turn's first output. */
const OPENING = new Set<Part["type"]>(["stream-start", "response-metadata", "raw"]);

/**
 * Resolves to the same stream once it has its first output, or when the call is aborted. Rejects if the model fails before that,
 * because the AI SDK retries a rejected call but never a stream that has started.
 */
export async function untilFirstPart(
  stream: ReadableStream<Part>,
  signal: AbortSignal | undefined,
): Promise<ReadableStream<Part>> {
  const reader = stream.getReader();
  const held: Part[] = [];
  let pending: ReturnType<typeof reader.read> | undefined;
  while (held.length < AI_SDK_LIMITS.heldParts && OPENING.has(held.at(-1)?.type ?? "stream-start")) {
    pending = reader.read();
    const next = await readWithAbort(pending, signal);
    if (next === undefined || next.done) break;
    pending = undefined;
    const part = next.value;
    if (part.type === "error" && APICallError.isInstance(part.error)) {
      // The turn has ended, so only the end of the stream is left.
      while (!(await reader.read()).done);
      throw part.error;
    }
    held.push(part);
  }
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        const part = held.shift();
        if (part !== undefined) return controller.enqueue(part);
        const next = await (pending ?? reader.read());
        pending = undefined;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Reads, or returns undefined if the signal aborts first. */
async function readWithAbort<Read>(
  reading: Promise<Read>,
  signal: AbortSignal | undefined,
): Promise<Read | undefined> {
  try {
    return await raceAbort(reading, signal);
  } catch (error) {
    if (signal?.aborted) return undefined;
    throw error;
  }
}
