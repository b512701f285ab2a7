import { describe, expect, test } from "vitest";
import { ChoiceKeys } from "./choice-keys.ts";

const UP = "\u001b[A";

describe("keys of a list of choices", () => {
  test.each([
    ["Enter alone", ["\r"], "\r", ""],
    ["arrows and Enter", [`${UP}${UP}\r`], `${UP}${UP}\r`, ""],
    ["Ctrl-C after text", ["ab", "\u0003"], "\u0003", "ab"],
    ["text and Enter", ["a", "b", "\r"], "", "ab"],
    ["letters that move the selection elsewhere", ["k", "j", "\r"], "", "kj"],
    ["an arrow after text", ["ab", UP, "\r"], `${UP}\r`, "ab"],
    ["a corrected letter", ["ab", "\u007f", "c"], "", "ac"],
    ["one chunk", [`ab\r${UP}\r`], `${UP}\r`, "ab"],
    ["keys that a list does not understand", ["\u001b[3~\u001b[H\t"], "", ""],
  ])("%s", (_what, chunks, keys, typed) => {
    const filter = new ChoiceKeys();
    expect(chunks.map((chunk) => filter.filter(chunk)).join("")).toBe(keys);
    expect(filter.typed).toBe(typed);
  });

  test("before the list can be read, only Ctrl-C is a key", () => {
    const filter = new ChoiceKeys();
    expect([UP, "\r", "ab\r", "\u0003"].map((chunk) => filter.holdText(chunk))).toEqual([
      "",
      "",
      "",
      "\u0003",
    ]);
    expect(filter.typed).toBe("ab");
    expect(filter.filter("\r")).toBe("");
  });
});
