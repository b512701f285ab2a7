import { describe, expect, it } from "vitest";
import { BlockLexer, lexBlock } from "../src/transcript/markdown/lex-blocks.ts";
import { parseFence } from "../src/transcript/markdown/parse-fence.ts";

const SIZE = 100_000;
const fill = (part: string): string => part.repeat(Math.ceil(SIZE / part.length));

/** Texts that took seconds to minutes, or overflowed the stack. */
const HOSTILE: Readonly<Record<string, string>> = {
  "deep quotes": `${">".repeat(2_000)} x`,
  "deeper quotes": fill(">"),
  "quotes and lists": fill("> - "),
  "lists in quotes": fill("- > "),
  "ordered lists": fill("1. "),
  "an indented list": Array.from({ length: 300 }, (_, depth) => `${"  ".repeat(depth)}- a`).join("\n"),
  "deep quotes with lines": fill(`${">".repeat(40)} a\nb\n`),
  emphasis: fill("*a_"),
  "other emphasis": fill("_a*"),
  "nested emphasis": `${fill("*a **b ")}${fill("c** d*")}`,
  strikethrough: fill("~a~~"),
  links: fill("[a]("),
  brackets: fill("["),
  "nested links": `${"[".repeat(50_000)}a${"](b)".repeat(12_000)}`,
  images: fill("!["),
  autolinks: fill("<a@"),
  addresses: fill("a."),
  mails: fill("a@"),
  "web addresses": fill("https://a("),
  codespans: fill("`a``"),
  tags: fill("<a "),
  comments: fill("<!--"),
  definitions: fill("[a]: b\n"),
  "a list": fill("- a\n"),
  "a task list": fill("- [ ] a\n"),
  "a wide table": `${"|a".repeat(20_000)}\n${"|-".repeat(20_000)}\n|a|`,
  "a table with many empty rows": `${"|a".repeat(99)}\n${"|-".repeat(99)}\n${fill("|\n")}`,
  "a long table": `|a|b|\n|-|-|\n${fill("|\n")}`,
  "blank lines": fill("\n \n"),
  "lines of text": fill("a\n"),
  "fences in fences": fill("```\na\n~~~\n"),
  quotes: fill("> >\n"),
  blanks: `a${fill(" ")}b`,
};

describe.each(Object.entries(HOSTILE))("%s", (_, text) => {
  it("is split into blocks and lexed in time, and no character is lost", { timeout: 5_000, retry: 0 }, () => {
    const lexer = new BlockLexer();
    lexer.update(text);
    expect(lexer.blocks.map(({ raw }) => raw).join("")).toHaveLength(text.length);
    // Rows are mounted near the screen only.
    for (const { raw } of lexer.blocks.slice(0, 20)) lexBlock(raw);
  });
});

it("shows what is nested too deeply as text", () => {
  expect(JSON.stringify(lexBlock(`${">".repeat(40)} **x**`))).toContain(`"type":"plain","raw":">>`);
  expect(lexBlock(fill("*a_"))[0]).toMatchObject({ tokens: [{ type: "plain", raw: fill("*a_") }] });
  expect(lexBlock("*a_".repeat(5_000))).toEqual([{ type: "plain", raw: "*a_".repeat(5_000) }]);
});

it("still parses what people write", () => {
  const paragraph = "Some **bold** words, `code`, [a link](https://example.com) and *emphasis*. ".repeat(50);
  expect(JSON.stringify(lexBlock(paragraph))).not.toContain("plain");
  const table = `| a | b |\n|---|---|\n${"| **x** | `y` |\n".repeat(1_000)}`;
  expect(lexBlock(table)[0]).toMatchObject({ type: "table", rows: { length: 1_000 } });
  expect(JSON.stringify(lexBlock("> - > - > - > - **x**"))).toContain(`"strong"`);
});

it("finds the end of a code block in time", { timeout: 5_000, retry: 0 }, () => {
  expect(parseFence(`\`\`\`\na\n\`\`\`${fill(" ")}x`).code).toMatch(/x$/);
});
