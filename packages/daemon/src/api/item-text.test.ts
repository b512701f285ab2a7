import { expect, test } from "vitest";
import { longestText, textAt } from "./item-text.ts";

const message = { id: "item-with-a-long-id", type: "agentMessage", phase: "final_answer", text: "Hi." };

test("the longest text of an item is its content, even if a label is longer", () => {
  expect(longestText(message)).toBe("Hi.");
  expect(longestText({ ...message, content: [{ type: "a long type", text: "Hello." }] })).toBe("Hello.");
  expect(longestText({ id: "i", type: "contextCompaction" })).toBe("");
});

test("a JSON pointer finds own members only", () => {
  expect(textAt({ "a/b": { "c~d": ["x"] } }, "/a~1b/c~0d/0")).toBe("x");
  expect(textAt({ a: "x" }, "/a/length")).toBeUndefined();
  expect(textAt({ a: {} }, "/a/toString")).toBeUndefined();
  expect(textAt({ a: 1 }, "/a")).toBeUndefined();
});
