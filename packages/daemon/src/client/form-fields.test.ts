import { describe, expect, it } from "vitest";
import { checkField, type FormField, readFormFields, toContent } from "./form-fields.ts";

const schema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name", minLength: 2 },
    mail: { type: "string", format: "email" },
    age: { type: "integer", minimum: 18, maximum: 99 },
    colour: { type: "string", enum: ["r", "g"], enumNames: ["Red", "Green"], default: "g" },
    size: { type: "string", oneOf: [{ const: "s", title: "Small" }] },
    tags: {
      type: "array",
      items: {
        anyOf: [
          { const: "a", title: "A" },
          { const: "b", title: "B" },
        ],
      },
      maxItems: 1,
    },
    isPublic: { type: "boolean", description: "Anybody can see it", default: true },
  },
  required: ["name", "tags"],
};

function fieldOf(name: string): FormField {
  const field = readFormFields(schema)?.find((candidate) => candidate.name === name);
  if (!field) throw new Error(`There is no field ${name}.`);
  return field;
}

describe("readFormFields", () => {
  it("reads every type that MCP allows, with labels and defaults", () => {
    const fields = readFormFields(schema);
    expect(
      fields?.map(({ name, type, label, isRequired, initial }) => [name, type, label, isRequired, initial]),
    ).toEqual([
      ["name", "text", "Your name", true, ""],
      ["mail", "text", "mail", false, ""],
      ["age", "number", "age", false, ""],
      ["colour", "choice", "colour", false, "g"],
      ["size", "choice", "size", false, ""],
      ["tags", "choices", "tags", true, []],
      ["isPublic", "checkbox", "isPublic", false, true],
    ]);
    expect(fieldOf("colour")).toMatchObject({
      choices: [
        { value: "r", label: "Red" },
        { value: "g", label: "Green" },
      ],
    });
  });

  it.each([
    undefined,
    null,
    { type: "array" },
    { type: "object", properties: { nested: { type: "object", properties: {} } } },
    { type: "object", properties: { list: { type: "array", items: { type: "string" } } } },
  ])("gives up on %j", (value) => {
    expect(readFormFields(value)).toBeUndefined();
  });
});

describe("checkField", () => {
  it.each([
    ["name", "", "An answer is required."],
    ["name", "a", "It needs at least 2 characters."],
    ["name", "😀😀", undefined],
    ["mail", "", undefined],
    ["mail", "ann", "This is not an e-mail address."],
    ["age", "x", "This is not a number."],
    ["age", "18.5", "This is not a whole number."],
    ["age", "17", "It must be at least 18."],
    ["age", "100", "It must be at most 99."],
    ["age", "30", undefined],
    ["tags", [], "An answer is required."],
    ["tags", ["a", "b"], "Choose at most 1."],
    ["isPublic", false, undefined],
  ])("checks %s = %j", (name, value, message) => {
    expect(checkField(fieldOf(name), value)).toBe(message);
  });
});

describe("toContent", () => {
  it("converts numbers, keeps false, and leaves out empty optional fields", () => {
    const values: Record<string, string | boolean | string[]> = {
      name: "Ann",
      age: "30",
      tags: ["b"],
      isPublic: false,
    };
    const fields = readFormFields(schema) ?? [];
    expect(toContent(fields, ({ name }) => values[name] ?? "")).toEqual({
      name: "Ann",
      age: 30,
      tags: ["b"],
      isPublic: false,
    });
  });
});
