import { existsSync, globSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

/** `peer.close.test.ts` is one of the tests of `peer.ts`. */
function hasSource(path: string): boolean {
  const [name = ""] = basename(path).split(".");
  return ["ts", "tsx"].some((extension) => existsSync(join(root, dirname(path), `${name}.${extension}`)));
}

test("a test beside the source has the name of a source file; scenarios are in the package's test folder", () => {
  const tests = globSync("packages/*/src/**/*.test.{ts,tsx}", { cwd: root });
  expect(tests.length).toBeGreaterThan(500);
  expect(tests.filter((path) => !hasSource(path))).toEqual([]);
});
