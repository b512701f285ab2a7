import { BlockLexer, lexBlock } from "./lex-blocks.ts";
import { renderTokens } from "./render-block.ts";

const SAMPLE =
  "## Title\n\nText *of* **words**, `code` and [a link](https://example.com).\n\n- one\n- two\n\n```ts\n1\n```\n";

/**
 * Lexes and renders a short text when the page is idle. Otherwise, the first text of a session would compile all Markdown
 * patterns in one frame, during which the page does not respond.
 */
export function warmUpMarkdown(): void {
  if (!("requestIdleCallback" in globalThis)) return;
  requestIdleCallback(() => {
    const lexer = new BlockLexer();
    // In parts, as a streamed message.
    for (let end = 8; end < SAMPLE.length + 8; end += 8) lexer.update(SAMPLE.slice(0, end));
    for (const { raw } of lexer.blocks) renderTokens(lexBlock(raw));
  });
}
