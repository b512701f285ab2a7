import { expect, it } from "vitest";
import { findConflict } from "./find-conflict.ts";
import { KEY_CATALOGUE, type KeyScope } from "./key-catalogue.ts";

const labelOf = (...args: Parameters<typeof findConflict>): string | undefined =>
  findConflict(...args)?.label;

it("finds shortcuts with the same keys in overlapping scopes", () => {
  expect(labelOf("transcript", "transcript.copy", "j", {})).toBe("Next row");
  expect(labelOf("transcript", "transcript.copy", "g i", {})).toBe("Inbox");
  expect(labelOf("everywhere", "app.new", "a", {})).toBe("Allow once");
});

it("allows the same keys in separate scopes", () => {
  expect(labelOf("diff", "diff.wrap", "a", {})).toBeUndefined();
  expect(labelOf("list", "inbox.next", "e", {})).toBeUndefined();
});

it("finds sequences that could no longer be typed", () => {
  expect(labelOf("transcript", "transcript.copy", "g", {})).toBe("Terminal");
  expect(labelOf("list", "list.pin", "g g x", {})).toBe("First session");
});

it("considers changes, and ignores disabled shortcuts", () => {
  expect(labelOf("transcript", "transcript.copy", "n", { "transcript.next": "n" })).toBe("Next row");
  expect(labelOf("transcript", "transcript.copy", "j", { "transcript.next": "" })).toBeUndefined();
});

it.each(Object.keys(KEY_CATALOGUE) as KeyScope[])(
  "the keys of the scope %s don't hide each other",
  (scope) => {
    const hidden = Object.entries<{ readonly keys: string }>(KEY_CATALOGUE[scope]).filter(
      ([id, { keys }]) => findConflict(scope, id, keys, {}) !== undefined,
    );
    // `o`, `a`, `s` and `c` of a focused card or diff take precedence over those of the page on purpose.
    const allowed = scope === "diff" ? ["diff.comment"] : scope === "everywhere" ? ["app.new"] : [];
    expect(hidden.map(([id]) => id)).toEqual(allowed);
  },
);
