/** Returns the last `characters` of a text, without splitting a surrogate pair at the start. */
export function newestText(text: string, characters: number): string {
  const start = Math.max(0, text.length - characters);
  const first = text.charCodeAt(start);
  const isSecondHalf = start > 0 && first >= 0xdc_00 && first <= 0xdf_ff;
  return text.slice(isSecondHalf ? start + 1 : start);
}
