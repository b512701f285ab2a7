import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_LINE, TextWindow } from "./text-window.ts";

const encoder = new TextEncoder();

function read(text: string, cuts: readonly number[] = []): TextWindow {
  const bytes = encoder.encode(text);
  const window = new TextWindow();
  let from = 0;
  for (const to of [...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]) {
    window.append(bytes.subarray(from, to), false);
    from = to;
  }
  window.append(new Uint8Array(), true);
  return window;
}

test("numbers lines and accepts both line ends", () => {
  expect(read("one\r\ntwo\n\nfour").lines).toEqual([
    { number: 1, text: "one" },
    { number: 2, text: "two" },
    { number: 3, text: "" },
    { number: 4, text: "four" },
  ]);
  expect(read("").lines).toEqual([]);
});

test("has the same lines for every split of the file", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("a", "\n", "\r\n", "é", "😀", "\t", "漢")),
      fc.array(fc.nat(200), { maxLength: 10 }),
      (parts, cuts) => {
        const text = parts.join("");
        expect(read(text, cuts).lines).toEqual(read(text).lines);
      },
    ),
  );
});

test("breaks long lines into rows without numbers", () => {
  const { lines } = read(`${"x".repeat(MAX_LINE + 5)}\nshort`);
  expect(lines.map(({ number, text }) => [number, text.length])).toEqual([
    [1, MAX_LINE],
    [undefined, 5],
    [2, 5],
  ]);
});

test("starts inside a file with the first whole line, without numbers", () => {
  const window = new TextWindow(100);
  window.append(encoder.encode("rest of a line\nnext\n"), true);
  expect(window.lines).toEqual([{ number: undefined, text: "next" }]);
  expect(window.end).toBe(120);
});

test("recognises binary files", () => {
  expect(read("a\0b").isBinary).toBe(true);
  expect(read("a").isBinary).toBe(false);
});
