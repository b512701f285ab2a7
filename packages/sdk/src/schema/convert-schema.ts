// Only the core, because the rest of zod takes longer to load than the whole SDK.
import { type $ZodType, type JSONSchema, prettifyError, toJSONSchema } from "zod/v4/core";
import type { JsonSchema } from "./json-schema.ts";
import type { StandardIssue, StandardSchema } from "./standard-schema.ts";

/** How zod converts its types to JSON Schema. */
export interface ConversionOptions {
  readonly unrepresentable?: "throw" | "any";
  readonly override?: (made: {
    readonly zodSchema: $ZodType;
    readonly jsonSchema: JSONSchema.BaseSchema;
  }) => void;
}

/**
 * Converts the input type of a schema to JSON Schema. The options apply to zod, whose own conversion is used because
 * versions below 4.2 don't implement the standard one. Throws the library's error for a type that JSON can't express.
 */
export function toJsonSchema(schema: StandardSchema, zodOptions: ConversionOptions): JsonSchema {
  if ("_zod" in schema) {
    return toJSONSchema(schema as unknown as $ZodType, { ...zodOptions, io: "input" });
  }
  const { vendor, ...standard } = schema["~standard"];
  if (!("jsonSchema" in standard)) {
    throw new Error(
      `schemas of ${vendor} don't convert themselves to JSON Schema. Use zod 4, or pass JSON Schema`,
    );
  }
  const converter = standard.jsonSchema as { input(options: { target: string }): JsonSchema };
  return converter.input({ target: "draft-2020-12" });
}

/** Describes issues for a person or a model, one per line. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  const plain = issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((step) => (typeof step === "object" ? step.key : step)),
  }));
  return prettifyError({ issues: plain });
}
