import { createEffect, onCleanup } from "solid-js";
import type { Fence } from "../markdown/parse-fence.ts";
import type { CodeToken, HighlightRequest, HighlightResponse, TokenColour } from "./find-tokens.ts";

/** Longer code stays plain. */
const LONGEST = 200_000;

let worker: Worker | undefined;
let nextId = 0;
const waiting = new Map<number, (tokens: readonly CodeToken[]) => void>();

function request(
  code: string,
  language: string,
  onTokens: (tokens: readonly CodeToken[]) => void,
): () => void {
  if (!worker) {
    worker = new Worker(new URL("highlight-worker.ts", import.meta.url), { type: "module" });
    // Without it, code stays plain.
    worker.addEventListener("error", (event) => event.preventDefault());
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

function highlightOf(colour: TokenColour): Highlight {
  const name = `code-${colour}`;
  let highlight = CSS.highlights.get(name);
  if (!highlight) {
    highlight = new Highlight();
    CSS.highlights.set(name, highlight);
  }
  return highlight;
}

/**
 * Colours the code in a text node while it is mounted, without elements: ranges are painted by the CSS Custom Highlight API.
 * Browsers without it show plain code.
 */
export function highlightCode(text: Text, fence: () => Fence | undefined): void {
  if (!("highlights" in CSS)) return;
  createEffect(() => {
    const current = fence();
    if (!current || current.language === "" || current.code.length > LONGEST) return;
    let ranges: [Highlight, Range][] = [];
    const cancel = request(current.code, current.language, (tokens) => {
      if (text.data !== current.code) return;
      ranges = tokens.map(({ from, to, colour }) => {
        const range = new Range();
        range.setStart(text, from);
        range.setEnd(text, to);
        const highlight = highlightOf(colour);
        highlight.add(range);
        return [highlight, range];
      });
    });
    onCleanup(() => {
      cancel();
      for (const [highlight, range] of ranges) highlight.delete(range);
    });
  });
}
