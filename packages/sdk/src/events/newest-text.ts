/** The end of a text, at most so long; it never begins with half a character. */
export function newestText(text: string, characters: number): string {
  const start = Math.max(0, text.length - characters);
  const first = text.charCodeAt(start);
  const isSecondHalf = start > 0 && first >= 0xdc_00 && first <= 0xdf_ff;
  return text.slice(isSecondHalf ? start + 1 : start);
}
