import { diffWordsWithSpace } from "diff";
import { expect, it } from "vitest";
import { compareWords } from "./word-diff.ts";

it("marks the words that differ on each side", () => {
  const spans = compareWords(diffWordsWithSpace, "const a = one;", "const a = two;");
  expect(spans?.removed.filter(({ isChanged }) => isChanged)).toEqual([{ text: "one", isChanged: true }]);
  expect(spans?.added.filter(({ isChanged }) => isChanged)).toEqual([{ text: "two", isChanged: true }]);
  expect(spans?.added.map(({ text }) => text).join("")).toBe("const a = two;");
});

it("marks nothing in lines without a common word, and in very long ones", () => {
  expect(compareWords(diffWordsWithSpace, "alpha", "beta")).toBeUndefined();
  expect(compareWords(diffWordsWithSpace, "a ".repeat(2000), "a b")).toBeUndefined();
});
