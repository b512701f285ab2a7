import { expect, test } from "vitest";
import { outputTail } from "./output-tail.ts";

test("returns the last lines of a long output, and counts those before them", () => {
  const output = Array.from({ length: 10_000 }, (_, index) => `line ${index}`).join("\n");
  const { text, hidden } = outputTail(`\u001B[31mred\u001B[0m\n${output}\n`, 3);
  expect(text).toBe("line 9997\nline 9998\nline 9999");
  expect(hidden).toBe(9_998);
});

test("returns the whole of a short output", () => {
  expect(outputTail("one\ntwo\n", 3)).toEqual({ text: "one\ntwo", hidden: 0 });
});

test("returns the end of an output without line ends", () => {
  expect(outputTail("x".repeat(100_000), 3).text).toHaveLength(100_000);
});
