import { expect, test } from "vitest";
import { padText, textWidth, truncateText, wrapText } from "./width.ts";

test("CJK characters and emoji need two columns", () => {
  expect(["a", "é", "日本", "👩‍👩‍👧", "👍🏽", "\u001b[31mred\u001b[0m"].map(textWidth)).toEqual([1, 1, 4, 2, 2, 3]);
});

test("text is cut between characters, within its columns", () => {
  expect(truncateText("日本語です", 6)).toBe("日本…");
  expect(truncateText("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", 4)).toBe("👩‍👩‍👧…");
  expect(truncateText("short", 5)).toBe("short");
  expect(truncateText("anything", 0)).toBe("");
});

test("padding counts columns", () => {
  expect(padText("日本", 6)).toBe("日本  ");
});

test("text wraps at words, and inside words that are too long", () => {
  expect(wrapText("one two three", 8)).toEqual(["one two ", "three"]);
  expect(wrapText("日本語日本語", 6)).toEqual(["日本語", "日本語"]);
});
