import type { CodeToken } from "./find-tokens.ts";

/**
 * Lines per element. When text is appended, only the last element needs a layout. Only elements near the screen have coloured
 * tokens.
 */
const CHUNK_LINES = 25;

interface Chunk {
  readonly element: HTMLElement;
  /** Offset of the chunk in the code. */
  readonly from: number;
  length: number;
  lines: number;
}

/**
 * The code of one block, in `element`. Appending keeps the existing elements. Tokens are elements instead of custom highlights,
 * because Chromium checks every range of a highlight and repaints its text whenever the page changes.
 */
export class CodeText {
  readonly element = document.createElement("code");
  readonly #chunks: Chunk[] = [];
  #code = "";
  #tokens: readonly CodeToken[] = [];

  get code(): string {
    return this.#code;
  }

  /** Replaces the code. If it continues the current code, only the rest is appended. */
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

  /** Colours the tokens, which must be sorted by position, in the elements near the screen. */
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
    // Replacing nodes would shorten a selection that extends beyond the screen.
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

/** Returns the end of up to `limit` lines, and the number of line breaks in them. */
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

/** Creates the nodes of the part of the code that begins at `from`. */
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

/** Calls the watcher when the element approaches or leaves the screen, until the element is removed. */
function observeNearness(element: Element, watcher: (isNear: boolean) => void): void {
  // `scrollMargin` applies to the scrolled list. The types lack it. Browsers without it colour only what is on screen.
  const options: IntersectionObserverInit & { readonly scrollMargin: string } = { scrollMargin: "200px" };
  nearness ??= new IntersectionObserver((entries) => {
    for (const { target, isIntersecting } of entries) watchers.get(target)?.(isIntersecting);
  }, options);
  watchers.set(element, watcher);
  nearness.observe(element);
}
