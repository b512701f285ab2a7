// Finds the tokens of code in a worker, as ranges of its text.
import { findTokens, type HighlightRequest, type HighlightResponse } from "./find-tokens.ts";

addEventListener("message", ({ data }: MessageEvent<HighlightRequest>) => {
  const response: HighlightResponse = { id: data.id, tokens: findTokens(data.code, data.language) };
  postMessage(response);
});
