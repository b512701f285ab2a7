import { expect, it } from "vitest";
import { findTokens } from "./find-tokens.ts";

it("finds coloured ranges that fit the code", () => {
  const code = 'const answer = "a\\n"; // 42';
  const parts = findTokens(code, "ts").map(({ from, to, colour }) => [code.slice(from, to), colour]);
  expect(parts).toEqual([
    ["const", "keyword"],
    ['"a\\n"', "string"],
    ["// 42", "comment"],
  ]);
});

it("finds nothing in an unknown language", () => {
  expect(findTokens("x = 1", "klingon")).toEqual([]);
});

it.each(["sh", "toml", "jsx", "py", "rs", "html", "yml"])("knows the alias %s", (language) => {
  expect(() => findTokens("# x", language)).not.toThrow();
});
