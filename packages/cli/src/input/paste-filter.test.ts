import fc from "fast-check";
import { expect, test } from "vitest";
import { PASTED_BREAK, PasteFilter } from "./paste-filter.ts";

test("line breaks in pasted text are not the Enter key", () => {
  const filter = new PasteFilter();
  expect(filter.filter("a\r\u001b[200~one\r\ntwo\u0003\tthree\u001b[201~\r")).toBe(
    `a\rone${PASTED_BREAK}two    three\r`,
  );
});

test("keys pass unchanged at once", () => {
  const filter = new PasteFilter();
  expect(["\u001b", "[A", "\u001b[", "x"].map((key) => filter.filter(key))).toEqual([
    "\u001b",
    "[A",
    "\u001b[",
    "x",
  ]);
});

test("chunks may end anywhere", () => {
  const input = "a\u001b[200~b\rc\u001b[201~d\u001b[200~e\u001b[201~";
  const whole = new PasteFilter().filter(input);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 3, max: 9 }), { minLength: 20 }), (lengths) => {
      const filter = new PasteFilter();
      let position = 0;
      let keys = "";
      for (const length of lengths) {
        // A terminal writes the first bytes of a marker together.
        const end = Math.min(input.length, position + length);
        const isCut = ["\u001b", "\u001b["].some((part) => input.slice(position, end).endsWith(part));
        const cut = isCut ? end + 2 : end;
        keys += filter.filter(input.slice(position, cut));
        position = cut;
      }
      expect(keys).toBe(whole);
    }),
  );
});
