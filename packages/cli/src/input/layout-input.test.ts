import fc from "fast-check";
import { expect, test } from "vitest";
import { textWidth } from "../terminal/width.ts";
import { layoutInput } from "./layout-input.ts";

test("text wraps below the prompt, and the cursor follows it", () => {
  const layout = (text: string, cursor: number): unknown =>
    layoutInput({ prompt: "› ", text, cursor, columns: 6 });

  expect(layout("", 0)).toEqual({ rows: ["› "], cursor: { row: 0, column: 2 } });
  expect(layout("abcdefg", 7)).toEqual({ rows: ["› abcd", "  efg"], cursor: { row: 1, column: 5 } });
  expect(layout("日本語", 2)).toEqual({ rows: ["› 日本", "  語"], cursor: { row: 1, column: 2 } });
  expect(layout("a\nb", 2)).toEqual({ rows: ["› a", "  b"], cursor: { row: 1, column: 2 } });
});

test("every row fits, and the cursor is inside of it", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: "grapheme" }),
      fc.nat(),
      fc.integer({ min: 8, max: 40 }),
      (text, at, columns) => {
        const { rows, cursor } = layoutInput({ prompt: "› ", text, cursor: at % (text.length + 1), columns });
        expect(Math.max(...rows.map(textWidth))).toBeLessThanOrEqual(columns);
        expect(cursor.column).toBeLessThanOrEqual(textWidth(rows[cursor.row] ?? ""));
      },
    ),
  );
});
