import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { BlockLexer, findLinks, lexBlock, lexBlocks } from "./lex-blocks.ts";

/** Pieces whose combinations are hard for an incremental lexer. */
const pieces = fc.constantFrom(
  "word ",
  "**bold** ",
  "\n",
  "\n\n",
  "# heading\n",
  "===\n",
  "---\n",
  "- item\n",
  "  - nested\n",
  "1. one\n",
  "    indented\n",
  "> quote\n",
  "```ts\n",
  "```\n",
  "``",
  "`",
  "~~~\n",
  "| a | b |\n",
  "|---|---|\n",
  "<div>\n",
  "</div>\n",
  "[ref]: http://x\n",
  "[ref] ",
  "\t",
  "\r\n",
  "* ",
  "***\n",
  "$x$ ",
);

describe("BlockLexer", () => {
  it("has the result of a full lex at every prefix", () => {
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
        const lexer = new BlockLexer();
        let text = "";
        for (const part of parts) {
          text += part;
          lexer.update(text);
          expect(lexer.blocks).toEqual(lexBlocks(text.replaceAll(/\r\n?/g, "\n")));
        }
      }),
      { numRuns: 400 },
    );
  });

  it("has the result of a full lex for texts that don't continue the one before", () => {
    fc.assert(
      fc.property(fc.array(fc.array(pieces, { maxLength: 10 }), { maxLength: 5 }), (texts) => {
        const lexer = new BlockLexer();
        for (const parts of texts) {
          const text = parts.join("");
          lexer.update(text);
          expect(lexer.blocks).toEqual(lexBlocks(text.replaceAll(/\r\n?/g, "\n")));
        }
      }),
      { numRuns: 200 },
    );
  });

  it("settles all blocks but the last ones", () => {
    const lexer = new BlockLexer();
    lexer.update(Array.from({ length: 100 }, (_, index) => `Paragraph ${index}.`).join("\n\n"));
    expect(lexer.settledCount).toBe(98);
  });
});

it("resolves links that are defined elsewhere in the text", () => {
  const text = "See [the docs][d].\n\n[d]: https://example.com/docs\n";
  const blocks = lexBlocks(text);
  const [paragraph] = lexBlock(blocks[0]?.raw ?? "", findLinks(blocks));
  expect(JSON.stringify(paragraph)).toContain("https://example.com/docs");
});
