import { createEffect, onCleanup } from "solid-js";
import type { CodeText } from "./code-text.ts";
import { requestTokens } from "./request-tokens.ts";

/** Maximum length of coloured code. Longer code stays plain. */
const LONGEST = 200_000;

/** Colours the code of a fence while it is mounted. Its tokens are found in a worker. */
export function highlightCode(
  text: CodeText,
  fence: () => { readonly code: string; readonly language: string } | undefined,
): void {
  createEffect(() => {
    const current = fence();
    if (!current || current.language === "" || current.code.length > LONGEST) return;
    const cancel = requestTokens(current.code, current.language, (tokens) => {
      if (text.code === current.code) text.setTokens(tokens);
    });
    onCleanup(() => {
      cancel();
      text.clearTokens();
    });
  });
}
