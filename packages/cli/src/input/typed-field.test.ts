import { type FormField, readFormFields } from "@codexkit/daemon/client";
import { expect, test } from "vitest";
import { checkTyped, choicesOf, initialText, readTyped } from "./typed-field.ts";

const BOOLEAN = { type: "boolean" };
const LIST = { type: "array", items: { type: "string", enum: ["a", "b"] } };

function readOne(field: object): FormField {
  const [read] = readFormFields({ type: "object", properties: { it: field }, required: ["it"] }) ?? [];
  if (!read) throw new Error("The form has no fields.");
  return read;
}

test.each([
  [BOOLEAN, "true", true],
  [BOOLEAN, "false", false],
  [LIST, " b,a ,", ["b", "a"]],
  [{ type: "string" }, "a, b", "a, b"],
  [{ type: "number" }, "1.5", "1.5"],
])("%j reads %j", (field, text, value) => {
  expect(readTyped(readOne(field), text)).toEqual(value);
});

test.each([
  [LIST, "a, c", 'Unknown choice "c". Choose from a, b.'],
  [LIST, "a", undefined],
  [LIST, " , ", "An answer is required."],
  [{ type: "integer" }, "1.5", "This is not a whole number."],
  [{ type: "string", minLength: 2 }, "😀", "It needs at least 2 characters."],
  [{ type: "string", format: "email" }, "ann", "This is not an e-mail address."],
])("%j answers %j with %j", (field, text, problem) => {
  expect(checkTyped(readOne(field), text)).toBe(problem);
});

test.each([
  [{ ...BOOLEAN, default: true }, ["true", "false"], "true"],
  [{ type: "string", enum: ["a", "b"], default: "b" }, ["a", "b"], "b"],
  [{ type: "string", oneOf: [{ const: "a", title: "A" }] }, ["a"], undefined],
  [{ ...LIST, default: ["a", "b"] }, undefined, "a, b"],
  [{ type: "integer", default: 3 }, undefined, "3"],
])("%j has choices and a default", (field, values, initial) => {
  expect(choicesOf(readOne(field))?.map(({ value }) => value)).toEqual(values);
  expect(initialText(readOne(field))).toBe(initial);
});
