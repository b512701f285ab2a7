// Without the rest of zod, which takes longer to load than all of the SDK.
import { type $ZodType, type JSONSchema, prettifyError, toJSONSchema } from "zod/v4/core";
import type { JsonSchema } from "./json-schema.ts";

/**
 * A schema of zod 4, of `zod/mini`, or of any library that follows Standard Schema and Standard JSON Schema. Typed by
 * structure: comparing the types of two zod versions can exhaust the compiler's memory.
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** What a schema makes of a value. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

/** Why a schema rejects a value. */
export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type that a schema produces. */
export type SchemaOutput<Schema extends StandardSchema> = NonNullable<Schema["~standard"]["types"]>["output"];

export function isStandardSchema<Output = unknown>(value: unknown): value is StandardSchema<Output> {
  // Some libraries make schemas that are functions.
  const isContainer = (typeof value === "object" && value !== null) || typeof value === "function";
  return isContainer && "~standard" in value;
}

/** How zod converts its types to JSON Schema. */
export interface ConversionOptions {
  readonly unrepresentable?: "throw" | "any";
  readonly override?: (made: {
    readonly zodSchema: $ZodType;
    readonly jsonSchema: JSONSchema.BaseSchema;
  }) => void;
}

/**
 * Writes the input of a schema as JSON Schema. The options apply to zod, whose own conversion is used because versions
 * below 4.2 don't implement the standard one. Throws what the library throws for a type that JSON can't express.
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

/** Explains issues to a person or a model, one per line. */
export function describeIssues(issues: readonly StandardIssue[]): string {
  const plain = issues.map(({ message, path = [] }) => ({
    message,
    path: path.map((step) => (typeof step === "object" ? step.key : step)),
  }));
  return prettifyError({ issues: plain });
}
