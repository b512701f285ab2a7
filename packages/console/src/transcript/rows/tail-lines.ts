/** The last lines of a text, and the number of lines before them. */
export function tailLines(text: string, count: number): { readonly text: string; readonly hidden: number } {
  const end = text.endsWith("\n") ? text.length - 1 : text.length;
  let position = end;
  for (let line = 0; line < count; line += 1) {
    position = text.lastIndexOf("\n", position - 1);
    if (position <= 0) return { text: text.slice(0, end), hidden: 0 };
  }
  let hidden = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < position; at = text.indexOf("\n", at + 1)) hidden += 1;
  return { text: text.slice(position + 1, end), hidden };
}
