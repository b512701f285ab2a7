import { describe, expect, expectTypeOf, it } from "vitest";
import * as current from "zod";
import * as first from "zod-4.0";
import * as firstMini from "zod-4.0/mini";
import * as other from "zod-4.6";
import * as otherMini from "zod-4.6/mini";
import * as mini from "zod/mini";
import { CodexError } from "../errors.ts";
import { defineTool } from "../tools/define-tool.ts";
import type { OutputSchema } from "./json-output-schema.ts";
import { outputSchema } from "./output-schema.ts";
import type { StandardSchema } from "./standard-schema.ts";

interface Size {
  width: number;
  unit: "mm" | "cm";
}

/** The same schema in each library. The SDK itself uses the package named `zod`. */
const schemas = {
  "the installed zod": current.object({ width: current.number(), unit: current.enum(["mm", "cm"]) }),
  "the installed zod/mini": mini.object({ width: mini.number(), unit: mini.enum(["mm", "cm"]) }),
  "zod 4.0.0": first.object({ width: first.number(), unit: first.enum(["mm", "cm"]) }),
  "zod/mini 4.0.0": firstMini.object({ width: firstMini.number(), unit: firstMini.enum(["mm", "cm"]) }),
  "zod 4.6.6": other.object({ width: other.number(), unit: other.enum(["mm", "cm"]) }),
  "zod/mini 4.6.6": otherMini.object({ width: otherMini.number(), unit: otherMini.enum(["mm", "cm"]) }),
  "another library": {
    "~standard": {
      version: 1,
      vendor: "another",
      validate: (value: unknown) =>
        (value as Size).unit === "mm" || (value as Size).unit === "cm"
          ? { value: value as Size }
          : { issues: [{ message: "Expected mm or cm", path: [{ key: "unit" }] }] },
      jsonSchema: {
        input: () => ({
          type: "object",
          properties: { width: { type: "number" }, unit: { type: "string", enum: ["mm", "cm"] } },
          required: ["width", "unit"],
          additionalProperties: false,
        }),
      },
    },
  } as StandardSchema<Size>,
} as const;

describe.each(Object.entries(schemas))("a schema of %s", (_library, schema) => {
  it("types and validates the output of a turn", () => {
    const output = outputSchema<Size>(schema);

    expect(output.wire).toMatchObject({
      type: "object",
      properties: { width: { type: "number" }, unit: { type: "string", enum: ["mm", "cm"] } },
      required: ["width", "unit"],
      additionalProperties: false,
    });
    expect(output.parse('{"width":1,"unit":"mm"}')).toEqual({ width: 1, unit: "mm" });
    expect(() => output.parse('{"width":1,"unit":"ft"}')).toThrow(
      /does not match the output schema: ✖ [^]*at unit/,
    );
  });

  it("describes and validates the input of a tool", async () => {
    const seen: Size[] = [];
    const tool = defineTool({
      name: "measure",
      description: "Measures",
      input: schema,
      execute: (size) => void seen.push(size),
    });
    const context = {} as Parameters<typeof tool.invoke>[1];

    expect(tool.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    await tool.invoke({ width: 1, unit: "cm" }, context);
    await expect(tool.invoke({ width: 1, unit: "ft" }, context)).rejects.toThrow(/at unit/);
    expect(seen).toEqual([{ width: 1, unit: "cm" }]);
  });
});

it("infers the output type of each library", () => {
  expectTypeOf(outputSchema(schemas["the installed zod"])).toEqualTypeOf<OutputSchema<Size>>();
  expectTypeOf(outputSchema(schemas["the installed zod/mini"])).toEqualTypeOf<OutputSchema<Size>>();
  expectTypeOf(outputSchema(schemas["zod 4.0.0"])).toEqualTypeOf<OutputSchema<Size>>();
  expectTypeOf(outputSchema(schemas["zod/mini 4.0.0"])).toEqualTypeOf<OutputSchema<Size>>();
  expectTypeOf(outputSchema(schemas["zod 4.6.6"])).toEqualTypeOf<OutputSchema<Size>>();
  expectTypeOf(outputSchema(schemas["zod/mini 4.6.6"])).toEqualTypeOf<OutputSchema<Size>>();
  expectTypeOf(outputSchema(schemas["another library"])).toEqualTypeOf<OutputSchema<Size>>();
});

it("infers the input of a tool from the schema", () => {
  defineTool({
    name: "measure",
    description: "Measures",
    input: schemas["zod/mini 4.6.6"],
    execute: ({ width, unit }) => {
      expectTypeOf(width).toEqualTypeOf<number>();
      expectTypeOf(unit).toEqualTypeOf<"mm" | "cm">();
    },
  });
});

it("rejects a library that can't convert itself to JSON Schema, and names it", () => {
  const schema: StandardSchema = {
    "~standard": { version: 1, vendor: "plain", validate: (value) => ({ value }) },
  };

  expect(() => outputSchema(schema)).toThrow(/schemas of plain don't convert themselves to JSON Schema/);
  expect(() =>
    defineTool({ name: "measure", description: "Measures", input: schema, execute: () => {} }),
  ).toThrow(/schemas of plain don't convert themselves to JSON Schema/);
});

it("rejects output whose schema validates asynchronously", () => {
  const schema = outputSchema(current.object({ width: current.number().refine(async () => true) }));

  expect(() => schema.parse('{"width":1}')).toThrow(
    expect.objectContaining({ name: CodexError.name, code: "invalid_schema" }),
  );
});
