import { expect, test } from "vitest";
import { applyCompletion, findCompletion } from "./completion.ts";

function at(textWithCaret: string) {
  const caret = textWithCaret.indexOf("|");
  return { text: textWithCaret.replace("|", ""), caret };
}

test.each([
  ["|", undefined],
  ["see @|", { type: "file", start: 4, end: 5, query: "" }],
  ["see @src/a|.ts", { type: "file", start: 4, end: 10, query: "src/a" }],
  ["mail me@example|", undefined],
  ["(@a|", { type: "file", start: 1, end: 3, query: "a" }],
  ["see @a b|", undefined],
  ["/|", { type: "command", start: 0, end: 1, query: "" }],
  ["/re|", { type: "command", start: 0, end: 3, query: "re" }],
  ["/review ma|", undefined],
  ["a /re|", undefined],
])("finds what is named at the caret of %j", (text, expected) => {
  expect(findCompletion(at(text))).toEqual(expected);
});

test("replaces the name before the caret and keeps the rest", () => {
  const { text, caret } = at("see @pa| now");
  const target = findCompletion({ text, caret });
  if (!target) throw new Error("Expected a target.");
  expect(applyCompletion(text, target, "src/parser.ts")).toEqual({
    text: "see @src/parser.ts now",
    caret: "see @src/parser.ts ".length,
  });
});
