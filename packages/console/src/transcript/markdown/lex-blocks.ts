import type { Token, TokensList } from "marked";
import { BoundedLexer, plainToken } from "./bounded-lexer.ts";

/** A block of Markdown: a paragraph, heading, list, table, quote, code block or rule. */
export interface MarkdownBlock {
  readonly type: string;
  /** The source of the block. */
  readonly raw: string;
}

type Links = TokensList["links"];

/** A block that is followed by this many others no longer changes. */
const UNSETTLED = 2;
const OPEN_FENCE = /^ {0,3}(?<marker>`{3,}|~{3,})[^\n]*\n/;

/** Splits a text into blocks. Blank lines between them belong to the block before. */
export function lexBlocks(text: string): MarkdownBlock[] {
  return join(tokens(text));
}

/** The inline tokens of a block, with the link definitions of the whole text. Plain text if it exceeds `MARKDOWN_LIMITS`. */
export function lexBlock(raw: string, links: Links = {}): Token[] {
  const lexer = new BoundedLexer();
  Object.assign(lexer.tokens.links, links);
  try {
    return lexer.lex(raw);
  } catch {
    return [plainToken(raw)];
  }
}

/** The link definitions of a text, if it has any. */
export function findLinks(blocks: readonly MarkdownBlock[]): Links {
  const links: Links = {};
  for (const { type, raw } of blocks) {
    if (type !== "def") continue;
    const lexer = new BoundedLexer();
    lexer.blockTokens(raw, []);
    for (const [name, link] of Object.entries(lexer.tokens.links)) links[name] ??= link;
  }
  return links;
}

function tokens(text: string): Token[] {
  const found: Token[] = [];
  try {
    new BoundedLexer("blocksOnly").blockTokens(text, found);
    return found;
  } catch {
    return [plainToken(text)];
  }
}

function join(list: readonly Token[]): MarkdownBlock[] {
  const blocks: { type: string; raw: string }[] = [];
  for (const { type, raw } of list) {
    const last = blocks.at(-1);
    if (type === "space" && last) last.raw += raw;
    else blocks.push({ type, raw });
  }
  return blocks;
}

/**
 * Splits a growing text into blocks. Only the last blocks are lexed again, so that the cost of an update does not grow with
 * the text. The result is the same as that of `lexBlocks`.
 */
export class BlockLexer {
  #settled: MarkdownBlock[] = [];
  /** The text as it was given, and what follows the settled blocks, with `\n` as its only line break. */
  #given = "";
  #tailText = "";
  #tail: MarkdownBlock[] = [];
  /** Set if the tail is an unclosed code block: its marker, and the offset from which a closing line is searched for. */
  #fence: { readonly marker: string; from: number } | undefined;

  get blocks(): readonly MarkdownBlock[] {
    return [...this.#settled, ...this.#tail];
  }

  /** Number of blocks that no longer change. */
  get settledCount(): number {
    return this.#settled.length;
  }

  /** Replaces the text. If it continues the previous text, only its end is lexed. */
  update(text: string): void {
    const known = this.#given;
    this.#given = text;
    // Comparing slices is much faster than `startsWith`.
    if (text.length >= known.length && text.slice(0, known.length) === known) {
      const more = text.slice(known.length);
      // The first half of the line break (`\r`) was already converted.
      const isHalf = known.endsWith("\r") && more.startsWith("\n");
      this.#tailText += normalizeBreaks(isHalf ? more.slice(1) : more);
    } else {
      this.#settled = [];
      this.#fence = undefined;
      this.#tailText = normalizeBreaks(text);
    }
    const tail = this.#tailText;
    if (this.#fence && !this.#hasClosed(tail)) {
      this.#tail = [{ type: "code", raw: tail }];
      return;
    }
    this.#lexTail(tail);
  }

  #lexTail(tail: string): void {
    const found = join(tokens(tail));
    const settled = found.slice(0, Math.max(0, found.length - UNSETTLED));
    this.#settled.push(...settled);
    this.#tailText = tail.slice(settled.reduce((length, { raw }) => length + raw.length, 0));
    this.#tail = found.slice(settled.length);
    this.#fence = undefined;
    const [only] = this.#tail;
    const marker =
      only && this.#tail.length === 1 ? OPEN_FENCE.exec(only.raw)?.groups?.["marker"] : undefined;
    if (marker !== undefined && only?.type === "code") {
      this.#fence = { marker, from: only.raw.indexOf("\n") };
      if (this.#hasClosed(only.raw)) this.#fence = undefined;
    }
  }

  #hasClosed(tail: string): boolean {
    const fence = this.#fence;
    if (!fence) return true;
    const closing = new RegExp(`\\n {0,3}${fence.marker[0]}{${fence.marker.length},}`);
    if (closing.test(tail.slice(fence.from))) return true;
    // The last line may become the closing line.
    fence.from = Math.max(fence.from, tail.lastIndexOf("\n"));
    return false;
  }
}

function normalizeBreaks(text: string): string {
  return text.includes("\r") ? text.replaceAll(/\r\n?/g, "\n") : text;
}
