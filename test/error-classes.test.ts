import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "..");

interface Entry {
  readonly "codexkit:source"?: string;
}

/** The source file of each entry point of each published package. */
const entryPoints = globSync("packages/*/package.json", { cwd: root }).flatMap((manifest) => {
  const { exports = {}, private: isPrivate = false } = JSON.parse(
    readFileSync(join(root, manifest), "utf8"),
  ) as { exports?: Record<string, Entry | string>; private?: boolean };
  if (isPrivate) return [];
  return Object.values(exports).flatMap((entry) => {
    const source = typeof entry === "string" ? undefined : entry["codexkit:source"];
    return source === undefined ? [] : [join(manifest, "..", source)];
  });
});

type ErrorClass = (abstract new (...args: never[]) => Error) & { readonly is?: (value: unknown) => boolean };

function isErrorClass(value: unknown): value is ErrorClass {
  return typeof value === "function" && value.prototype instanceof Error;
}

test.each(entryPoints)(
  "error classes of %s recognise their errors across copies of the package",
  async (path) => {
    const exports = (await import(pathToFileURL(join(root, path)).href)) as Record<string, unknown>;
    for (const [name, value] of Object.entries(exports)) {
      if (!isErrorClass(value)) continue;
      // An inherited `is` would recognise errors of the base class.
      expect(Object.hasOwn(value, "is"), `${name}.is`).toBe(true);
      expect(value.is?.(new Error("x")), `${name}.is of another error`).toBe(false);
      expect(value.is?.(undefined)).toBe(false);
    }
  },
);

test("the check finds error classes", () => {
  expect(entryPoints.length).toBeGreaterThan(20);
  expect(isErrorClass(RangeError)).toBe(true);
  expect(isErrorClass(Map)).toBe(false);
});
