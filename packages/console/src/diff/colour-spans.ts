import type { CodeToken, TokenColour } from "../highlight/find-tokens.ts";
import type { WordSpan } from "./word-diff.ts";

/** A part of a line: the same colour, and changed or not. */
export interface ColouredSpan extends WordSpan {
  readonly colour: TokenColour | undefined;
}

/** Cuts the spans of a line where its tokens begin and end. Tokens are sorted and don't overlap. */
export function colourSpans(
  spans: readonly WordSpan[],
  tokens: readonly CodeToken[],
): readonly ColouredSpan[] {
  const parts: ColouredSpan[] = [];
  let start = 0;
  let next = 0;
  for (const { text, isChanged } of spans) {
    let position = start;
    const end = start + text.length;
    const push = (to: number, colour: TokenColour | undefined): void => {
      if (to > position) parts.push({ text: text.slice(position - start, to - start), isChanged, colour });
      position = Math.max(position, to);
    };
    for (let token = tokens[next]; token && token.from < end; token = tokens[next]) {
      push(Math.max(token.from, start), undefined);
      push(Math.min(token.to, end), token.colour);
      if (token.to > end) break;
      next += 1;
    }
    push(end, undefined);
    start = end;
  }
  return parts;
}
