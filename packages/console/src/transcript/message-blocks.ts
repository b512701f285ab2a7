import { type Accessor, createSignal } from "solid-js";
import { BlockLexer, findLinks, type MarkdownBlock } from "./markdown/lex-blocks.ts";

/** The blocks of one message. Rows read their own block; the list of rows reads the number of blocks. */
export class MessageBlocks {
  /** Number of blocks, which changes less often than the text. */
  readonly count: Accessor<number>;
  readonly #lexer = new BlockLexer();
  readonly #setCount: (count: number) => void;
  readonly #changed: Accessor<unknown>;
  readonly #notify: () => void;
  #blocks: readonly MarkdownBlock[] = [];
  #text: string | undefined;

  constructor() {
    const [count, setCount] = createSignal(0);
    const [changed, notify] = createSignal<unknown>(undefined, { equals: false });
    this.count = count;
    this.#setCount = setCount;
    this.#changed = changed;
    this.#notify = () => notify(undefined);
  }

  /** Updates the text of the message. */
  update(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    this.#lexer.update(text);
    this.#blocks = this.#lexer.blocks;
    this.#notify();
    this.#setCount(this.#blocks.length);
  }

  /** A block by its number. Reactive: the last ones change while the message is written. */
  block(index: number): MarkdownBlock | undefined {
    if (index >= this.#lexer.settledCount) this.#changed();
    return this.#blocks[index];
  }

  /** Link definitions of the whole message. */
  get links(): ReturnType<typeof findLinks> {
    return findLinks(this.#blocks);
  }
}
