import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A `ts` block of a Markdown page. */
export interface DocBlock {
  readonly code: string;
  /** The line of its opening fence, from 1. */
  readonly line: number;
}

/** Returns the `ts` blocks of a page in the order of the page. The path is relative to the root of the repository. */
export function readDocBlocks(page: string): DocBlock[] {
  return findBlocks(readFileSync(join(import.meta.dirname, "..", page), "utf8"));
}

/** Returns the `ts` blocks of a Markdown text. */
export function findBlocks(text: string): DocBlock[] {
  return Array.from(text.matchAll(/^```ts\n(?<code>[^]*?)^```$/gm), ({ groups, index }) => ({
    code: groups?.["code"] ?? "",
    line: text.slice(0, index).split("\n").length,
  }));
}
