import { BlockLexer, lexBlocks } from "../../../packages/console/src/transcript/markdown/lex-blocks.ts";

const FLUSHES = 200;
/** 128 KB of paragraphs, lists and code blocks. */
const TEXT = Array.from(
  { length: 170 },
  (_, index) =>
    `## Part ${index}\n\n${"Some *emphasised* text with `code` and a [link](https://example.com). ".repeat(6)}\n\n` +
    `- one of ${index}\n- two\n\n\`\`\`ts\n${"const value = compute(3); // line\n".repeat(7)}\`\`\`\n\n`,
).join("");

/**
 * Time to split an answer into blocks while it grows in 200 steps, and the time of the last steps relative to
 * the first.
 */
export async function lexIncrementally() {
  const lexer = new BlockLexer();
  return measure((text) => {
    lexer.update(text);
    return lexer.blocks.length;
  });
}

/** The same, but reading the whole text in each step. */
export async function lexWhole() {
  return measure((text) => lexBlocks(text).length);
}

function measure(lex: (text: string) => number) {
  const times: number[] = [];
  let blocks = 0;
  for (let flush = 1; flush <= FLUSHES; flush += 1) {
    const text = TEXT.slice(0, Math.ceil((flush * TEXT.length) / FLUSHES));
    const start = performance.now();
    blocks = lex(text);
    times.push(performance.now() - start);
  }
  if (blocks < 100) throw new Error(`The text was split into ${blocks} blocks only.`);
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const quarter = FLUSHES / 4;
  // Excludes the first quarter, in which the patterns are compiled.
  const early = sum(times.slice(quarter, 2 * quarter));
  return { time: sum(times), "last to second quarter": sum(times.slice(-quarter)) / early };
}
