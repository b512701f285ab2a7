import type { InputRows } from "../terminal/live-output.ts";
import { revealText } from "../terminal/sanitize.ts";
import { segmentText, textWidth } from "../terminal/width.ts";

interface InputLayout {
  /** Plain text before the first row. Later rows are indented by its width. */
  readonly prompt: string;
  readonly text: string;
  /** The cursor as an offset into the text. */
  readonly cursor: number;
  readonly columns: number;
}

/** Wraps typed text into rows and finds the cursor in them. */
export function layoutInput({ prompt, text, cursor, columns }: InputLayout): InputRows {
  const indent = " ".repeat(textWidth(prompt));
  const rows = [prompt];
  let position = { row: 0, column: textWidth(prompt) };
  let width = position.column;
  for (const { segment, index } of segmentText(text)) {
    const isBreak = segment === "\n" || segment === "\r\n";
    const shown = isBreak ? "" : revealText(segment.replaceAll("\t", " "));
    const wraps = width + textWidth(shown) > columns && width > indent.length;
    if (wraps) {
      rows.push(indent);
      width = indent.length;
    }
    if (index <= cursor) position = { row: rows.length - 1, column: width };
    rows.push((rows.pop() ?? "") + shown);
    width += textWidth(shown);
    if (isBreak) {
      rows.push(indent);
      width = indent.length;
    }
    if (index + segment.length <= cursor) position = { row: rows.length - 1, column: width };
  }
  return { rows, cursor: position };
}
