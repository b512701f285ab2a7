import type { CodeToken } from "./find-tokens.ts";

/**
 * Lines per element. Text that is appended lays out only the last element, and only elements near the screen have coloured
 * tokens.
 */
const CHUNK_LINES = 25;

interface Chunk {
  readonly element: HTMLElement;
  /** Where the chunk begins in the code. */
  readonly from: number;
  length: number;
  lines: number;
}

/**
 * The code of one block, in `element`. Appending keeps what is there. Tokens are elements rather than custom highlights: Chromium
 * checks every range of a highlight and paints its text again whenever anything in the page changes.
 */
export class CodeText {
  readonly element = document.createElement("code");
  readonly #chunks: Chunk[] = [];
  #code = "";
  #tokens: readonly CodeToken[] = [];

  get code(): string {
    return this.#code;
  }

  /** Shows another code. One that continues what is shown only appends. */
  update(code: string): void {
    this.clearTokens();
    if (!code.startsWith(this.#code)) this.#removeAll();
    let from = this.#code.length;
    this.#code = code;
    while (from < code.length) {
      const chunk = this.#lastOpen(from);
      const { end, lines } = takeLines(code, from, CHUNK_LINES - chunk.lines);
      appendText(chunk.element, code.slice(from, end));
      chunk.length += end - from;
      chunk.lines += lines;
      from = end;
    }
  }

  /** Colours the tokens, sorted by their position, in those parts that come near the screen. */
  setTokens(tokens: readonly CodeToken[]): void {
    this.#tokens = tokens;
    for (const chunk of this.#chunks) {
      observeNearness(chunk.element, (isNear) => this.#colour(chunk, isNear));
    }
  }

  clearTokens(): void {
    if (this.#tokens.length === 0) return;
    this.#tokens = [];
    for (const chunk of this.#chunks) {
      nearness?.unobserve(chunk.element);
      this.#colour(chunk, false);
    }
  }

  #colour({ element, from, length }: Chunk, isNear: boolean): void {
    const isColoured = element.childElementCount > 0;
    if (isColoured === isNear) return;
    // Replaced nodes would cut a selection that reaches beyond the screen.
    if (getSelection()?.isCollapsed === false && getSelection()?.containsNode(element, true)) return;
    const text = this.#code.slice(from, from + length);
    element.replaceChildren(...(isNear ? colourText(text, from, this.#tokens) : [text]));
  }

  #lastOpen(from: number): Chunk {
    const last = this.#chunks.at(-1);
    if (last && last.lines < CHUNK_LINES) return last;
    const element = document.createElement("span");
    element.className = "code-lines";
    const chunk = { element, from, length: 0, lines: 0 };
    this.#chunks.push(chunk);
    this.element.append(element);
    return chunk;
  }

  #removeAll(): void {
    this.#chunks.length = 0;
    this.#code = "";
    this.element.replaceChildren();
  }
}

/** The end of up to `limit` lines, and how many of them end with a line break. */
function takeLines(
  code: string,
  from: number,
  limit: number,
): { readonly end: number; readonly lines: number } {
  let end = from;
  for (let lines = 0; lines < limit; lines += 1) {
    const lineBreak = code.indexOf("\n", end);
    if (lineBreak === -1) return { end: code.length, lines };
    end = lineBreak + 1;
  }
  return { end, lines: limit };
}

function appendText(element: HTMLElement, text: string): void {
  if (element.firstChild instanceof Text) element.firstChild.appendData(text);
  else element.append(text);
}

/** The nodes of a part of the code that begins at `from`. */
function colourText(text: string, from: number, tokens: readonly CodeToken[]): (Node | string)[] {
  const nodes: (Node | string)[] = [];
  const to = from + text.length;
  let position = from;
  for (let index = firstAfter(tokens, from); index < tokens.length; index += 1) {
    const token = tokens[index];
    if (!token || token.from >= to) break;
    const start = Math.max(token.from, from);
    const end = Math.min(token.to, to);
    if (start > position) nodes.push(text.slice(position - from, start - from));
    const span = document.createElement("span");
    span.className = `code-${token.colour}`;
    span.textContent = text.slice(start - from, end - from);
    nodes.push(span);
    position = end;
  }
  if (position < to) nodes.push(text.slice(position - from));
  return nodes;
}

/** Index of the first token that ends after a position. */
function firstAfter(tokens: readonly CodeToken[], position: number): number {
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tokens[middle]?.to ?? 0) <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

let nearness: IntersectionObserver | undefined;
const watchers = new WeakMap<Element, (isNear: boolean) => void>();

/** Calls the watcher when the element comes near the screen or leaves it, until the element is removed. */
function observeNearness(element: Element, watcher: (isNear: boolean) => void): void {
  // The margin of the list that scrolls. The types lack the option; browsers without it colour what is on screen.
  const options: IntersectionObserverInit & { readonly scrollMargin: string } = { scrollMargin: "200px" };
  nearness ??= new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) watchers.get(target)?.(isIntersecting);
  }, options);
  watchers.set(element, watcher);
  nearness.observe(element);
}
