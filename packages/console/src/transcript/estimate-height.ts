import type { Row } from "./build-rows.ts";
import type { MarkdownBlock } from "./markdown/lex-blocks.ts";

const CODE_LINE = 19.5;
const TEXT_LINE = 21;
/** Characters per line of text in the widest column. */
const LINE_LENGTH = 110;

/**
 * Estimates the height of an unmeasured row. Good estimates keep the scroll bar stable and avoid mounting rows that are not near
 * the screen. Errors are never visible.
 */
export function estimateHeight(row: Row, block: MarkdownBlock | undefined): number {
  switch (row.kind) {
    case "turn":
      return 48;
    case "footer":
      return 36;
    case "block":
      return block ? blockHeight(block) : 44;
    case "work":
      return 36;
    case "approval":
      return 160;
    case "notice":
      return 52;
    case "item":
      return row.item.kind === "commandExecution" ? 120 : 52;
  }
}

/** Cached heights by block. Settled blocks stay the same objects, and their heights are needed whenever offsets are computed. */
const heights = new WeakMap<MarkdownBlock, number>();

function blockHeight(block: MarkdownBlock): number {
  let height = heights.get(block);
  if (height === undefined) {
    height = estimateBlock(block);
    heights.set(block, height);
  }
  return height;
}

function estimateBlock({ type, raw }: MarkdownBlock): number {
  const lines = raw.trimEnd().split("\n");
  // Header, padding and border. The first and the last line are the fence.
  if (type === "code") return 58 + Math.max(0, lines.length - 2) * CODE_LINE;
  const wrapped = lines.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / LINE_LENGTH)), 0);
  return 16 + wrapped * TEXT_LINE;
}
