import fc from "fast-check";
import { expect, test } from "vitest";
import { parseRange } from "./byte-range.ts";

test.each([
  ["bytes=0-0", 10, { start: 0, end: 1 }],
  ["bytes=2-5", 10, { start: 2, end: 6 }],
  ["bytes=2-", 10, { start: 2, end: 10 }],
  ["bytes=-3", 10, { start: 7, end: 10 }],
  ["bytes=-30", 10, { start: 0, end: 10 }],
  ["bytes=5-99", 10, { start: 5, end: 10 }],
  ["BYTES=5-99", 10, { start: 5, end: 10 }],
  [undefined, 10, undefined],
  ["bytes=5-2", 10, undefined],
  ["bytes=0-1,3-4", 10, undefined],
  ["bytes=-", 10, undefined],
  ["lines=1-2", 10, undefined],
])("%s of %i bytes", (header, size, expected) => {
  expect(parseRange(header, size)).toEqual(expected);
});

test.each([
  ["bytes=10-", 10],
  ["bytes=10-12", 10],
  ["bytes=0-0", 0],
  ["bytes=-0", 10],
  ["bytes=-5", 0],
])("%s has no byte of %i", (header, size) => {
  expect(() => parseRange(header, size)).toThrow(expect.objectContaining({ code: "range_not_satisfiable" }));
});

test("a range is always inside the file", () => {
  fc.assert(
    fc.property(fc.string(), fc.nat(), fc.nat(), fc.nat(), (text, first, last, size) => {
      for (const header of [text, `bytes=${text}`, `bytes=${first}-${last}`]) {
        let range;
        try {
          range = parseRange(header, size);
        } catch {
          continue;
        }
        if (!range) continue;
        expect(range.start).toBeGreaterThanOrEqual(0);
        expect(range.start).toBeLessThan(range.end);
        expect(range.end).toBeLessThanOrEqual(size);
      }
    }),
  );
});
