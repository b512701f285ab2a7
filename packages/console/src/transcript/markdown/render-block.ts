import type { Token, Tokens } from "marked";
import { visibleText } from "../../ui/index.ts";

/**
 * Builds the DOM of Markdown tokens. HTML is never parsed: tags are shown as text, images of other hosts become links, and only
 * links with http, https and mailto are active.
 */
export function renderTokens(tokens: readonly Token[]): DocumentFragment {
  const fragment = document.createDocumentFragment();
  for (const token of tokens) fragment.append(renderToken(token));
  return fragment;
}

/** The node of one token. A text with tokens of its own has a node per token. */
export function renderToken(token: Token): Node {
  switch (token.type) {
    case "paragraph":
      return element("p", renderTokens(token.tokens ?? []));
    case "heading":
      return renderHeading(token as Tokens.Heading);
    case "blockquote":
      return element("blockquote", renderTokens(token.tokens ?? []));
    case "list":
      return renderList(token as Tokens.List);
    case "table":
      return renderTable(token as Tokens.Table);
    case "hr":
      return element("hr");
    case "code":
      return element("pre", element("code", (token as Tokens.Code).text));
    case "strong":
    case "em":
    case "del":
      return element(token.type, renderTokens((token as Tokens.Strong).tokens));
    case "codespan":
      return element("code", visibleText((token as Tokens.Codespan).text));
    case "br":
      return element("br");
    case "link":
      return renderLink(token as Tokens.Link);
    case "image":
      return renderImage(token as Tokens.Image);
    case "escape":
      return document.createTextNode((token as Tokens.Escape).text);
    case "text":
      return token.tokens ? renderTokens(token.tokens) : document.createTextNode((token as Tokens.Text).text);
    case "space":
    case "def":
      return document.createTextNode("");
    case "checkbox":
      return renderCheckbox((token as Tokens.Checkbox).checked);
    case "plain": {
      const node = element("span", visibleText(token.raw));
      node.className = "md-plain";
      return node;
    }
    default:
      return document.createTextNode(token.raw);
  }
}

function element(name: string, ...children: (Node | string)[]): HTMLElement {
  const node = document.createElement(name);
  node.append(...children);
  return node;
}

/** The page uses h1 for the session and h2 for turns. Headings in messages must not skip a level. */
function renderHeading({ depth, tokens }: Tokens.Heading): Node {
  const node = element("h3", renderTokens(tokens));
  node.className = `md-heading-${depth}`;
  return node;
}

function renderList(list: Tokens.List): Node {
  const node = document.createElement(list.ordered ? "ol" : "ul");
  if (list.ordered && typeof list.start === "number" && list.start !== 1) {
    node.setAttribute("start", String(list.start));
  }
  for (const item of list.items) node.append(element("li", renderTokens(item.tokens)));
  return node;
}

function renderCheckbox(checked: boolean): Node {
  const box = document.createElement("span");
  box.className = "md-checkbox";
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", checked ? "done" : "not done");
  box.textContent = checked ? "☑ " : "☐ ";
  return box;
}

function renderTable(table: Tokens.Table): Node {
  const cells = (name: "td" | "th", row: readonly Tokens.TableCell[]): Node => {
    const line = document.createElement("tr");
    for (const [index, cell] of row.entries()) {
      const node = element(name, renderTokens(cell.tokens));
      const align = table.align[index];
      if (align) node.className = `md-${align}`;
      line.append(node);
    }
    return line;
  };
  const body = document.createElement("tbody");
  for (const row of table.rows) body.append(cells("td", row));
  const scroller = element("div", element("table", element("thead", cells("th", table.header)), body));
  scroller.className = "md-table";
  // A wide table can be scrolled, so it must be focusable with the keyboard.
  scroller.tabIndex = 0;
  scroller.setAttribute("role", "group");
  scroller.setAttribute("aria-label", "Table");
  return scroller;
}

function renderLink({ href, tokens, text }: Tokens.Link): Node {
  const target = safeUrl(href);
  const label = tokens.length > 0 ? renderTokens(tokens) : document.createTextNode(text);
  if (target === undefined) {
    // A file path, or an inactive scheme: shows the text and the target.
    const span = element("span", label);
    span.title = visibleText(href);
    span.className = "md-path";
    return span;
  }
  return anchor(target, label);
}

function renderImage({ href, text }: Tokens.Image): Node {
  const target = safeUrl(href);
  const name = text === "" ? "image" : text;
  if (target === undefined) return document.createTextNode(`[${name}]`);
  return anchor(target, document.createTextNode(`${name} (image on ${target.host})`));
}

function anchor(target: URL, label: Node): HTMLAnchorElement {
  const link = document.createElement("a");
  link.href = target.href;
  link.target = "_blank";
  link.rel = "noopener noreferrer";
  link.append(label);
  return link;
}

function safeUrl(href: string): URL | undefined {
  if (!URL.canParse(href)) return undefined;
  const url = new URL(href);
  return ["http:", "https:", "mailto:"].includes(url.protocol) ? url : undefined;
}
