import fc from "fast-check";
import { expect, it } from "vitest";
import { RowGeometry } from "./row-geometry.ts";

const toRows = (count: number): { key: string }[] =>
  Array.from({ length: count }, (_, index) => ({ key: `row ${index}` }));

it("finds the row at every position", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 50 }), (heights) => {
      const geometry = new RowGeometry<{ key: string }>(() => 40);
      const rows = toRows(heights.length);
      geometry.setRows(rows);
      for (const [index, row] of rows.entries()) geometry.measure(row, heights[index] ?? 0);
      let top = 0;
      for (const [index, height] of heights.entries()) {
        expect(geometry.offsetOf(index)).toBe(top);
        expect(geometry.indexAt(top)).toBe(index);
        expect(geometry.indexAt(top + height - 1)).toBe(index);
        top += height;
      }
      expect(geometry.offsetOf(heights.length)).toBe(top);
    }),
  );
});

it("estimates unmeasured rows, and returns the error of the estimate", () => {
  const geometry = new RowGeometry<{ key: string }>(() => 40);
  const [first, second] = toRows(2);
  geometry.setRows(toRows(2));
  expect(geometry.offsetOf(2)).toBe(80);
  expect(first && geometry.measure(first, 100)).toBe(60);
  expect(first && geometry.measure(first, 100)).toBe(0);
  expect(second && geometry.measure(second, 40)).toBe(0);
  expect(geometry.offsetOf(2)).toBe(140);
});
