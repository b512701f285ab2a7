import { expect, test } from "vitest";
import { parseJson } from "./parse-json.ts";

const nested = (levels: number): string => `${'{"a":['.repeat(levels / 2)}${"]}".repeat(levels / 2)}`;

test("JSON with as many levels as Codex can write is parsed", () => {
  for (const text of ["null", '"text"', nested(128), nested(500), JSON.stringify({ a: "{".repeat(5000) })]) {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  }
});

test("JSON that could not be written again is refused", () => {
  for (const levels of [502, 100_000]) expect(() => parseJson(nested(levels))).toThrow(SyntaxError);
});
