import fc from "fast-check";
import { expect, it } from "vitest";
import { tailLines } from "./tail-lines.ts";

it.each([
  ["", 2, "", 0],
  ["a", 2, "a", 0],
  ["a\nb\n", 2, "a\nb", 0],
  ["a\nb\nc\n", 2, "b\nc", 1],
  ["a\nb\nc\nd", 1, "d", 3],
])("keeps the end of %j", (text, count, tail, hidden) => {
  expect(tailLines(text, count)).toEqual({ text: tail, hidden });
});

it("neither loses nor adds a line", () => {
  fc.assert(
    fc.property(
      fc.array(fc.stringMatching(/^[ab]{1,3}$/), { maxLength: 12 }),
      fc.integer({ min: 1, max: 9 }),
      (lines, count) => {
        const { text, hidden } = tailLines(lines.join("\n"), count);
        expect(hidden + (text === "" ? 0 : text.split("\n").length)).toBe(lines.length);
        expect(lines.slice(hidden).join("\n")).toBe(text);
      },
    ),
  );
});
