import { expect, test } from "vitest";
import { isInside } from "./is-inside.ts";

test.each([
  ["/a", "/a", true],
  ["/a", "/a/b", true],
  ["/a", "/a/..foo", true],
  ["/a", "/a/...", true],
  ["/", "/", true],
  ["/", "/a", true],
  ["/a", "/", false],
  ["/a", "/ab", false],
  ["/a", "/b/a", false],
  ["/a/b", "/a", false],
])("isInside(%j, %j) is %s", (folder, path, expected) => {
  expect(isInside(folder, path)).toBe(expected);
});
