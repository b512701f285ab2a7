import { createSignal } from "solid-js";
import type { DiffRows } from "./diff-rows.ts";
import type { DiffFile } from "./parse-diff.ts";
import { counterpartOf } from "./split-pairs.ts";
import { compareWords, MAX_COMPARED_CHARACTERS, type WordSpan } from "./word-diff.ts";

type Compare = Parameters<typeof compareWords>[0];

const [compare, setCompare] = createSignal<Compare>();
let isLoading = false;

/** Loads the library that compares words once, when the first diff is rendered. */
export async function loadWordCompare(): Promise<void> {
  if (isLoading) return;
  isLoading = true;
  try {
    const { diffWordsWithSpace } = await import("diff");
    setCompare(() => diffWordsWithSpace);
  } catch {
    // Until the library can be loaded, whole lines are marked.
    isLoading = false;
  }
}

/** The changed words of a row. Undefined if the whole row is marked. Reactive. */
export function wordsOf(rows: DiffRows, file: DiffFile, row: number): readonly WordSpan[] | undefined {
  const compareLines = compare();
  if (!compareLines || rows.lengthOf(row) > MAX_COMPARED_CHARACTERS) return undefined;
  const other = counterpartOf(rows, row, file);
  if (other === undefined || rows.lengthOf(other) > MAX_COMPARED_CHARACTERS) return undefined;
  const isRemoved = rows.kindOf(row) === "removed";
  const [removed, added] = isRemoved ? [row, other] : [other, row];
  const spans = compareWords(compareLines, rows.at(removed).text, rows.at(added).text);
  return isRemoved ? spans?.removed : spans?.added;
}
