import { describe, expect, test } from "vitest";
import { type FormField, readFields } from "./form-field.ts";

function readOne(field: object, required: readonly string[] = []): FormField {
  const [read] = readFields({ type: "object", properties: { it: field }, required }) ?? [];
  if (!read) throw new Error("The form has no fields.");
  return read;
}

describe("a field of a form", () => {
  test("has its title, or its name, and says whether it is required", () => {
    expect(readOne({ type: "string" })).toMatchObject({ name: "it", label: "it", isRequired: false });
    expect(readOne({ type: "string", title: "Your name" }, ["it"])).toMatchObject({
      label: "Your name",
      isRequired: true,
    });
  });

  test.each([
    ["a number", { type: "number", minimum: 1, maximum: 2 }, "1.5", 1.5],
    ["a whole number", { type: "integer" }, "-3", -3],
    ["a text", { type: "string", minLength: 1 }, "a", "a"],
    ["a text of one character in two UTF-16 units", { type: "string", maxLength: 1 }, "😀", "😀"],
    ["a yes", { type: "boolean" }, "true", true],
    ["a no", { type: "boolean" }, "false", false],
    ["a list", { type: "array", items: { type: "string", enum: ["a", "b"] } }, " b,a ,", ["b", "a"]],
    ["a titled list", { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } }, "a", ["a"]],
  ])("is parsed as %s", (_what, field, text, value) => {
    expect(readOne(field).parse(text)).toEqual(value);
  });

  test.each([
    [{ type: "number" }, " ", "This is not a number."],
    [{ type: "integer" }, "1.5", "This is not a whole number."],
    [{ type: "number", minimum: 1 }, "0", "It must be at least 1."],
    [{ type: "number", maximum: 1 }, "2", "It must be at most 1."],
    [{ type: "string", minLength: 2 }, "a", "It needs at least 2 characters."],
    [{ type: "string", minLength: 2 }, "😀", "It needs at least 2 characters."],
    [{ type: "string", maxLength: 1 }, "ab", "It can have at most 1 characters."],
    [{ type: "array", items: { type: "string", enum: ["a"] } }, "a, c", 'Unknown choice "c". Choose from a.'],
  ])("%j refuses %j", (field, text, message) => {
    expect(() => readOne(field).parse(text)).toThrow(message);
  });

  test.each([
    [{ type: "boolean", default: true }, ["true", "false"], "true"],
    [{ type: "string", enum: ["a", "b"], default: "b" }, ["a", "b"], "b"],
    [{ type: "string", oneOf: [{ const: "a", title: "A" }] }, ["a"], undefined],
  ])("%j has choices and a default", (field, values, initial) => {
    const { choices, initial: read } = readOne(field);
    expect(choices?.map(({ value }) => value)).toEqual(values);
    expect(read).toBe(initial);
  });

  test("can't be asked alone if it is not of MCP's types", () => {
    expect(readFields({ type: "object", properties: { it: { type: "object" } } })).toBeUndefined();
    expect(readFields({ type: "object", properties: { it: true } })).toBeUndefined();
    expect(readFields(null)).toBeUndefined();
    expect(readFields({ type: "object", properties: {} })).toEqual([]);
  });
});
