import fc from "fast-check";
import { expect, it } from "vitest";
import { visibleText } from "./visible-text.ts";

it.each([
  ["rm -rf \u202Etxt.exe", "rm -rf ⟪RLO⟫txt.exe"],
  ["a\u001B[31mb", "a␛[31mb"],
  ["line\r\nnext\ttab", "line␍\nnext\ttab"],
  ["\u0000\u007F\u0085", "␀␡⟪U+0085⟫"],
  ["zero\u200Bwidth\uFEFF", "zero⟪ZWSP⟫width⟪BOM⟫"],
  ["tag\u{E0041}", "tag⟪U+E0041⟫"],
  ["plain äöü 漢字 👩‍💻", "plain äöü 漢字 👩‍💻"],
])("makes %j visible", (text, visible) => {
  expect(visibleText(text)).toBe(visible);
});

it("has the same result when it is applied again", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "\n", "\u001B", "\u202E", "\u0085", "⟪", "\u{E0041}") }),
      (text) => {
        expect(visibleText(visibleText(text))).toBe(visibleText(text));
      },
    ),
  );
});
