import { expect, it } from "vitest";
import { entriesBelow, entryOf, isLiteral } from "./path-words.ts";
import { literal } from "./word.ts";

it("describes the entries below a folder by patterns, with hidden folders unless the names are inert", () => {
  const textsOf = (folder: string, names?: string) =>
    entriesBelow(literal(folder), names).map(({ text }) => text);
  expect(textsOf("src/")).toEqual(["src/**", "src/**/.*"]);
  expect(textsOf("/")).toEqual(["/**", "/**/.*"]);
  expect(textsOf(".", "*.ts")).toEqual(["./**/*.ts"]);
  expect(textsOf(".", "*.json")).toEqual(["./**/*.json", "./**/.*/**/*.json"]);
  expect(textsOf(".", "config")).toEqual(["./**/config", "./**/.*/**/config"]);
});

it("names a copy after its source", () => {
  expect(entryOf(literal("out/"), literal("src/a.ts"))).toEqual({ text: "out/a.ts" });
  expect(entryOf(literal("out"), literal("src/.git//"))).toEqual({ text: "out/.git" });
  expect(entryOf(literal("out"), { text: "src/*.ts", isGlob: true })).toEqual({
    text: "out/*.ts",
    isGlob: true,
  });
  expect(entryOf(literal("/"), literal("a"))).toEqual({ text: "/a" });
  for (const source of [".", "a/..", "/", ""])
    expect(entryOf(literal("out"), literal(source))).toBeUndefined();
});

it("knows which words never vary", () => {
  expect(isLiteral(literal(""))).toBe(true);
  expect(isLiteral(undefined)).toBe(false);
  expect(isLiteral({ text: undefined })).toBe(false);
  expect(isLiteral({ text: "*", isGlob: true })).toBe(false);
  expect(isLiteral({ text: "a", maySplit: true })).toBe(false);
});
