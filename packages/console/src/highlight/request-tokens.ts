import type { CodeToken, HighlightRequest, HighlightResponse } from "./find-tokens.ts";
import "./highlight.css";

let worker: Worker | undefined;
let nextId = 0;
const waiting = new Map<number, (tokens: readonly CodeToken[]) => void>();

/** Finds the coloured tokens of code in a worker. Returns a function that cancels the request. */
export function requestTokens(
  code: string,
  language: string,
  onTokens: (tokens: readonly CodeToken[]) => void,
): () => void {
  if (!worker) {
    worker = new Worker(new URL("highlight-worker.ts", import.meta.url), { type: "module" });
    worker.addEventListener("message", ({ data }: MessageEvent<HighlightResponse>) => {
      waiting.get(data.id)?.(data.tokens);
      waiting.delete(data.id);
    });
  }
  nextId += 1;
  const id = nextId;
  waiting.set(id, onTokens);
  worker.postMessage({ id, code, language } satisfies HighlightRequest);
  return () => waiting.delete(id);
}
