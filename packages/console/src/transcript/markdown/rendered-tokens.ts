import type { Token, Tokens } from "marked";
import { renderToken, renderTokens } from "./render-block.ts";

/**
 * The Markdown tokens in an element. An update changes only the differences: appending text to a long paragraph changes one text
 * node, which keeps a selection and minimises the layout.
 */
export class RenderedTokens {
  readonly #element: Element;
  #tokens: readonly Token[] = [];

  constructor(element: Element) {
    this.#element = element;
  }

  update(tokens: readonly Token[]): void {
    const known = this.#tokens;
    this.#tokens = tokens;
    // The DOM was changed from outside, for example by the browser's translation.
    if (this.#element.childNodes.length !== countNodes(known)) {
      this.#element.replaceChildren(renderTokens(tokens));
    } else patch(this.#element, 0, known, tokens);
  }
}

/** Patches the children of an element, from an index on, from the known tokens to the new ones. */
function patch(parent: Node, start: number, known: readonly Token[], next: readonly Token[]): void {
  let same = 0;
  let at = start;
  for (; same < known.length && same < next.length; same += 1) {
    const [one, other] = [known[same], next[same]];
    if (!one || !other || !isSame(one, other)) break;
    at += countNodes([one]);
  }
  let [from, to] = [same, same];
  const [one, other] = [known[same], next[same]];
  if (one && other && patchToken(parent, at, one, other)) {
    at += countNodes([other]);
    from += 1;
    to += 1;
  }
  const rest = countNodes(known.slice(from));
  for (let index = 0; index < rest; index += 1) parent.childNodes[at]?.remove();
  if (to >= next.length) return;
  parent.insertBefore(renderTokens(next.slice(to)), parent.childNodes[at] ?? null);
}

/** Changes the nodes of one token into those of another one. Returns false if they must be replaced. */
function patchToken(parent: Node, at: number, known: Token, next: Token): boolean {
  const node = parent.childNodes[at];
  if (!node || known.type !== next.type) return false;
  switch (next.type) {
    case "text":
      return patchText(parent, at, known as Tokens.Text, next as Tokens.Text);
    case "heading":
      if ((known as Tokens.Heading).depth !== (next as Tokens.Heading).depth) return false;
      patch(node, 0, childrenOf(known), childrenOf(next));
      return true;
    case "paragraph":
    case "blockquote":
    case "strong":
    case "em":
    case "del":
      patch(node, 0, childrenOf(known), childrenOf(next));
      return true;
    case "list":
      return patchList(node, known as Tokens.List, next as Tokens.List);
    default:
      return false;
  }
}

/** Text is a single node, or the tokens of a list item without an enclosing element. */
function patchText(parent: Node, at: number, known: Tokens.Text, next: Tokens.Text): boolean {
  if (known.tokens && next.tokens) {
    patch(parent, at, known.tokens, next.tokens);
    return true;
  }
  const node = parent.childNodes[at];
  if (known.tokens || next.tokens || !(node instanceof Text)) return false;
  if (next.text.startsWith(node.data)) node.appendData(next.text.slice(node.data.length));
  else node.data = next.text;
  return true;
}

function patchList(node: Node, known: Tokens.List, next: Tokens.List): boolean {
  if (known.ordered !== next.ordered || known.start !== next.start) return false;
  for (const [index, item] of next.items.entries()) {
    const old = known.items[index];
    const element = node.childNodes[index];
    if (!old || !element) {
      const list = renderToken({ ...next, items: next.items.slice(index) });
      node.appendChild(fragmentOf(list.childNodes));
      return true;
    }
    patch(element, 0, old.tokens, item.tokens);
  }
  while (node.childNodes.length > next.items.length) node.lastChild?.remove();
  return true;
}

function fragmentOf(nodes: Iterable<Node>): DocumentFragment {
  const fragment = document.createDocumentFragment();
  fragment.append(...nodes);
  return fragment;
}

function childrenOf(token: Token): readonly Token[] {
  if (token.type === "list") return (token as Tokens.List).items.flatMap(({ tokens }) => tokens);
  if (token.type === "table") {
    const { header, rows } = token as Tokens.Table;
    return [header, ...rows].flat().flatMap(({ tokens }) => tokens);
  }
  return ("tokens" in token ? token.tokens : undefined) ?? [];
}

function isSame(one: Token, other: Token): boolean {
  if (one.type !== other.type || one.raw !== other.raw) return false;
  // A later definition in the message changes the targets of its links.
  if (one.type === "link" || one.type === "image") {
    return (one as Tokens.Link).href === (other as Tokens.Link).href;
  }
  const [children, others] = [childrenOf(one), childrenOf(other)];
  return (
    children.length === others.length &&
    children.every((child, index) => {
      const twin = others[index];
      return twin !== undefined && isSame(child, twin);
    })
  );
}

/** Number of nodes to which the tokens are rendered. */
function countNodes(tokens: readonly Token[]): number {
  return tokens.reduce(
    (sum, token) => sum + (token.type === "text" && token.tokens ? countNodes(token.tokens) : 1),
    0,
  );
}
