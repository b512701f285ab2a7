import fc from "fast-check";
import { expect, it } from "vitest";
import { visibleParts, visibleText } from "./visible-text.ts";

it.each([
  ["rm -rf \u202Etxt.exe", "rm -rf ⟪RLO⟫txt.exe"],
  ["a\u001B[31mb", "a␛[31mb"],
  ["line\r\nnext\ttab", "line␍\nnext\ttab"],
  ["\u0000\u007F\u0085", "␀␡⟪U+0085⟫"],
  ["zero\u200Bwidth\uFEFF", "zero⟪ZWSP⟫width⟪BOM⟫"],
  ["tag\u{E0041}", "tag⟪U+E0041⟫"],
  ["lone\u200Djoiner", "lone⟪ZWJ⟫joiner"],
  ["plain äöü 漢字 👩‍💻", "plain äöü 漢字 👩‍💻"],
])("makes %j visible", (text, visible) => {
  expect(visibleText(text)).toBe(visible);
});

it("is idempotent", () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom("a", "\n", "\u001B", "\u202E", "\u0085", "⟪", "\u{E0041}") }),
      (text) => {
        expect(visibleText(visibleText(text))).toBe(visibleText(text));
      },
    ),
  );
});

it("distinguishes an escape from the same characters in the text", () => {
  expect(visibleParts("␛\u001B")).toEqual([
    { text: "␛", isEscape: false },
    { text: "␛", isEscape: true },
  ]);
});

it("leaves no bidirectional mark and no control character in any text", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 0x20_70 })), (codes) => {
      const parts = visibleParts(String.fromCodePoint(...codes));
      const text = parts.map((part) => part.text).join("");
      expect(text).not.toMatch(/(?![\n\t])\p{Cc}|[\u202A-\u202E\u2066-\u2069]/u);
      expect(text).toBe(visibleText(String.fromCodePoint(...codes)));
    }),
  );
});
