import { expect } from "vitest";

const KEY = Symbol.for("codexkit.tests.no-regexp-in-objects");
const shared = globalThis as { [KEY]?: true };

/**
 * Fails a test that expects a regular expression inside an object or array. `toMatchObject` would accept any value for it, because a
 * regular expression has no properties of its own. Test files share workers, so the check is added once.
 */
if (!shared[KEY]) {
  shared[KEY] = true;
  expect.addEqualityTesters([
    (received: unknown, expected: unknown) => {
      if (!(expected instanceof RegExp) || received instanceof RegExp) return undefined;
      throw new TypeError(`Use expect.stringMatching(${String(expected)}) inside objects and arrays.`);
    },
  ]);
}
