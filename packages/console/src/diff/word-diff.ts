import type { diffWordsWithSpace } from "diff";

/** A part of a line, and whether it is also in the other line. */
export interface WordSpan {
  readonly text: string;
  readonly isChanged: boolean;
}

/** Maximum length of compared lines. Longer lines are usually generated, and comparing them takes long. */
export const MAX_COMPARED_CHARACTERS = 1_000;

type Compare = typeof diffWordsWithSpace;

/** Compares two lines word by word: the spans of the removed and of the added one. */
export function compareWords(
  compare: Compare,
  removed: string,
  added: string,
): { readonly removed: readonly WordSpan[]; readonly added: readonly WordSpan[] } | undefined {
  if (Math.max(removed.length, added.length) > MAX_COMPARED_CHARACTERS) return undefined;
  const parts = compare(removed, added);
  const same = parts.filter((part) => !part.added && !part.removed).map(({ value }) => value.trim().length);
  // Lines without common words were replaced. Marking all words would not help.
  if (same.every((length) => length === 0)) return undefined;
  return {
    removed: parts
      .filter((part) => !part.added)
      .map((part) => ({ text: part.value, isChanged: part.removed })),
    added: parts.filter((part) => !part.removed).map((part) => ({ text: part.value, isChanged: part.added })),
  };
}
