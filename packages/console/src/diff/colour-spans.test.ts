import fc from "fast-check";
import { expect, it } from "vitest";
import type { CodeToken } from "../highlight/find-tokens.ts";
import { colourSpans } from "./colour-spans.ts";

it("cuts changed words at the tokens", () => {
  const spans = [
    { text: "const limit = ", isChanged: false },
    { text: "100;", isChanged: true },
  ];
  const tokens: CodeToken[] = [
    { from: 0, to: 5, colour: "keyword" },
    { from: 14, to: 17, colour: "number" },
  ];
  expect(colourSpans(spans, tokens)).toEqual([
    { text: "const", isChanged: false, colour: "keyword" },
    { text: " limit = ", isChanged: false, colour: undefined },
    { text: "100", isChanged: true, colour: "number" },
    { text: ";", isChanged: true, colour: undefined },
  ]);
});

it("colours a token that spans several words", () => {
  const spans = [
    { text: '"a ', isChanged: false },
    { text: "b", isChanged: true },
    { text: '"', isChanged: false },
  ];
  const parts = colourSpans(spans, [{ from: 0, to: 5, colour: "string" }]);
  expect(parts.map(({ colour }) => colour)).toEqual(["string", "string", "string"]);
});

it("keeps every character in its place", () => {
  const words = fc.array(fc.record({ text: fc.string(), isChanged: fc.boolean() }), { maxLength: 6 });
  const cuts = fc.uniqueArray(fc.nat(40), { maxLength: 8 });
  fc.assert(
    fc.property(words, cuts, (spans, positions) => {
      const sorted = positions.toSorted((a, b) => a - b);
      const tokens = sorted.flatMap((from, index): CodeToken[] => {
        const to = sorted[index + 1];
        return to === undefined || index % 2 === 1 ? [] : [{ from, to, colour: "number" }];
      });
      const parts = colourSpans(spans, tokens);
      expect(parts.map(({ text }) => text).join("")).toBe(spans.map(({ text }) => text).join(""));
      for (const changed of [true, false]) {
        const of = (list: readonly { text: string; isChanged: boolean }[]): string =>
          list.flatMap(({ text, isChanged }) => (isChanged === changed ? [text] : [])).join("");
        expect(of(parts)).toBe(of(spans));
      }
    }),
  );
});
