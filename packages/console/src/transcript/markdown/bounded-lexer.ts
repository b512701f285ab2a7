import { Lexer, type Token, type Tokenizer } from "marked";

/** What a text may cost. Beyond it, it is shown as plain text, so that no message can block the page. */
export const MARKDOWN_LIMITS = {
  /** Nested quotes and lists. */
  depth: 20,
  /** Nested emphasis and links. */
  inlineDepth: 30,
  /** Characters of one paragraph, list item or cell. */
  inlineLength: 16_384,
  /** Inline steps of a block, each weighted with the length of its remaining text: the delimiters of emphasis are searched for in it. */
  inlineCost: 1_000_000,
  /** Steps at all levels of a text. */
  steps: 100_000,
  /** Items with a check box. The lexer searches all of them for each one. */
  tasks: 2_000,
  columns: 100,
  cells: 20_000,
} as const;

/** A lexer with limits. Throws if the text as a whole exceeds one, or if the stack overflows. Call it through `lexBlock` or `BlockLexer`. */
export class BoundedLexer extends Lexer {
  #depth = 0;
  #inlineDepth = 0;
  #steps = 0;
  #inlineCost = 0;
  #tasks = 0;
  readonly #isBlocksOnly: boolean;

  /** `blocksOnly`: paragraphs get no inline tokens. */
  constructor(mode?: "blocksOnly") {
    super({ gfm: true });
    this.#isBlocksOnly = mode === "blocksOnly";
    // The constructor of the base class has created it.
    const tokenizer = this.options.tokenizer as Tokenizer;
    const spend = (steps: number, cost: number): void => {
      this.#steps += steps;
      this.#inlineCost += cost;
      if (this.#steps > MARKDOWN_LIMITS.steps || this.#inlineCost > MARKDOWN_LIMITS.inlineCost)
        throw tooComplex();
    };
    // Each step of the lexer tries these rules first.
    const [space, escape, table] = [
      tokenizer.space.bind(tokenizer),
      tokenizer.escape.bind(tokenizer),
      tokenizer.table.bind(tokenizer),
    ];
    tokenizer.space = (text) => {
      spend(1, 0);
      return space(text);
    };
    tokenizer.escape = (text) => {
      spend(1, text.length);
      return escape(text);
    };
    tokenizer.table = (text) => (isLargeTable(text) ? undefined : table(text));
  }

  override blockTokens(text: string, tokens: Token[] = [], lastParagraphClipped?: boolean): never {
    if (this.#depth >= MARKDOWN_LIMITS.depth) {
      tokens.push(plainToken(text));
      return tokens as never;
    }
    this.#depth += 1;
    super.blockTokens(text, tokens, lastParagraphClipped);
    this.#depth -= 1;
    return tokens as never;
  }

  override inline(text: string, tokens: Token[] = []): Token[] {
    // The lexer removes the last entries when it joins paragraphs, and searches all entries for each check box.
    if (this.#isBlocksOnly && this.inlineQueue.length >= 8) return tokens;
    if (/^\[[ xX]\]/.test(text)) this.#tasks += 1;
    if (this.#tasks > MARKDOWN_LIMITS.tasks) throw tooComplex();
    return super.inline(text, tokens);
  }

  override inlineTokens(text: string, tokens: Token[] = []): Token[] {
    if (text.length > MARKDOWN_LIMITS.inlineLength || this.#inlineDepth >= MARKDOWN_LIMITS.inlineDepth) {
      tokens.push(plainToken(text));
      return tokens;
    }
    this.#inlineDepth += 1;
    super.inlineTokens(text, tokens);
    this.#inlineDepth -= 1;
    return tokens;
  }
}

function tooComplex(): RangeError {
  return new RangeError("The Markdown is too complex.");
}

/** Text that is shown as it is, with its line breaks. */
export function plainToken(raw: string): Token {
  return { type: "plain", raw };
}

/** Each row of a table is filled up to the columns of its header, so that a short text can have many cells. */
function isLargeTable(text: string): boolean {
  const header = text.indexOf("\n");
  if (
    header === -1 ||
    !/^[ |:-]+(?:\n|$)/.test(text.slice(header + 1, header + 1 + MARKDOWN_LIMITS.inlineLength))
  )
    return false;
  const columns = text.slice(0, header).split("|").length;
  const end = text.search(/\n *(?:\n|$)/);
  const rows = text.slice(0, end === -1 ? text.length : end).split("\n").length;
  return columns > MARKDOWN_LIMITS.columns || columns * rows > MARKDOWN_LIMITS.cells;
}
