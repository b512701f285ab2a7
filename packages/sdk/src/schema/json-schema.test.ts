import { expect, test } from "vitest";
import { resolveRef } from "./json-schema.ts";

const root = { $defs: { "a/b": { type: "string" }, "50%": { type: "number" } }, anyOf: [{ const: 1 }] };

test.each([
  ["#", root],
  ["#/$defs/a~1b", root.$defs["a/b"]],
  ["#/$defs/a%7E1b", root.$defs["a/b"]],
  ["#/$defs/50%25", root.$defs["50%"]],
  ["#/anyOf/0", root.anyOf[0]],
  ["#/$defs/missing", undefined],
  ["#/$defs/__proto__", undefined],
  ["#/$defs/50%", undefined],
  ["https://example.com/schema", undefined],
])("resolves the reference %s", (ref, expected) => {
  expect(resolveRef(ref, root)).toBe(expected);
});
