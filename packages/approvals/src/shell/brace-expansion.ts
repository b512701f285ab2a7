const LIST = /^\{([\w./@+%:-]*(?:,[\w./@+%:-]*)+)\}$/;
const RANGE = /^\{(\d{1,4})\.\.(\d{1,4})\}$/;
const MOST_WORDS = 64;

/** The texts that `{a,b}` or `{1..3}` stands for. Undefined if it is anything more complicated. */
export function expandBraces(text: string): readonly string[] | undefined {
  const list = LIST.exec(text)?.[1]?.split(",");
  if (list !== undefined) return list.length > MOST_WORDS ? undefined : list;
  const range = RANGE.exec(text);
  // Leading zeros ask for padding, on which shells differ.
  if (range === null || /^0\d/.test(range[1] ?? "") || /^0\d/.test(range[2] ?? "")) return undefined;
  const [from, to] = [Number(range[1]), Number(range[2])];
  const count = Math.abs(to - from) + 1;
  if (count > MOST_WORDS) return undefined;
  return Array.from({ length: count }, (_, index) => String(from + (to > from ? index : -index)));
}
