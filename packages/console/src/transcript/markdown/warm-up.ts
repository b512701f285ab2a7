import { BlockLexer, lexBlock } from "./lex-blocks.ts";
import { renderTokens } from "./render-block.ts";

const SAMPLE =
  "## Title\n\nText *of* **words**, `code` and [a link](https://example.com).\n\n- one\n- two\n\n```ts\n1\n```\n";

/**
 * Reads and renders a short text when the page is idle. The first text of a session otherwise pays for the compilation of all
 * patterns of Markdown in one frame, in which the page does not react.
 */
export function warmUpMarkdown(): void {
  if (!("requestIdleCallback" in globalThis)) return;
  requestIdleCallback(() => {
    const lexer = new BlockLexer();
    // By parts, as a message is written.
    for (let end = 8; end < SAMPLE.length + 8; end += 8) lexer.update(SAMPLE.slice(0, end));
    for (const { raw } of lexer.blocks) renderTokens(lexBlock(raw));
  });
}
