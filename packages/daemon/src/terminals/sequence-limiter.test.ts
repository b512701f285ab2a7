import fc from "fast-check";
import { expect, test } from "vitest";
import { SequenceLimiter } from "./sequence-limiter.ts";

function limit(...chunks: readonly (string | Uint8Array)[]): string {
  const limiter = new SequenceLimiter(() => ({ columns: 80, rows: 24 }));
  return chunks.map((chunk) => limiter.limit(Buffer.from(chunk))).join("");
}

test.each([
  ["colours", "\u001b[1;38;2;255;100;0mred\u001b[0m"],
  ["modes", "\u001b[?1049h\u001b[?2004l\u001b(B\u001b7\u001b8\u001b=\u001bc"],
  ["a position outside of the screen", "\u001b[9999;9999H\u001b[6n"],
  ["a title", "\u001b]0;title\u0007text\u001b]2;title\u001b\\text"],
  ["a request of the terminal", "\u001bP$q m\u001b\\text"],
  ["a bell in a string", "\u001bPa\u0007b\u001b\\text"],
  ["an accent, an emoji and a flag", "e\u0301 👩‍👩‍👧 🇩🇪"],
  ["a cancelled sequence", "\u001b]0;title\u0018text"],
])("leaves %s as it is", (_what, output) => {
  expect(limit(output)).toBe(output);
});

test("does not depend on how the output is divided", () => {
  const part = fc.constantFrom(
    ..."\u001b [ ] P \\ \u0007 \u0018 \u009b \u009d \u009c 1 ; 99999 S m \n a é \u0301 漢 👩 \u200d".split(
      " ",
    ),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), fc.array(fc.nat(60), { maxLength: 6 }), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(""));
      const at = [0, ...cuts.toSorted((a, b) => a - b), bytes.length];
      const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end));
      // Text that is held back at the end is part of a character or sequence.
      expect(limit(...chunks, "\u0018")).toBe(limit(bytes, "\u0018"));
    }),
  );
});

test.each([
  ["lines", "\u001b[2147483647S", "\u001b[24S"],
  ["lines, in one character", "\u009b2147483647T", "\u001b[24T"],
  ["columns", "\u001b[99999;3I", "\u001b[80;3I"],
  ["a character", "a\u001b[0002147483647b", "a\u001b[80b"],
  ["lines, with a line feed among the digits", "\u001b[99\n999L", "\n\u001b[24L"],
])("limits the repetition of %s", (_what, output, expected) => {
  expect(limit(output)).toBe(expected);
});

test.each([
  ["OSC", "\u001b]0;", "\u0007"],
  ["OSC in one character", "\u009d0;", "\u009c"],
  ["DCS", "\u001bP$q", "\u001b\\"],
  ["APC", "\u001b_", "\u001b\\"],
  ["PM", "\u001b^", "\u001b\\"],
  ["SOS", "\u001bX", "\u001b\\"],
])("cancels a long %s, and shows what follows it", (_what, start, end) => {
  const endless = [start, ...Array.from({ length: 100 }, () => "x".repeat(1000))];
  const limited = limit(...endless);
  expect(limited.length).toBeLessThan(4100);
  expect(limited.endsWith("\u0018")).toBe(true);
  expect(limit(...endless, end, "text")).toBe(`${limited}${end === "\u001b\\" ? end : ""}text`);
});

test("leaves out a sequence with endless parameters", () => {
  expect(limit("a\u001b[", ...Array.from({ length: 100 }, () => "1;".repeat(1000)), "mb")).toBe("ab");
});

test("limits the marks on a character", () => {
  const marks = Array.from({ length: 100 }, () => "\u0301".repeat(100));
  expect(limit("a", ...marks, "b\u0301")).toBe(`a${"\u0301".repeat(16)}b\u0301`);
});
