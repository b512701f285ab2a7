import type { JsonValue } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";
import { isObject, isZod3, type JsonSchema } from "./json-schema.ts";
import { findMismatch, removeAbsent } from "./json-shape.ts";
import { describeIssues, isStandardSchema, type StandardSchema, toJsonSchema } from "./standard-schema.ts";
import { toStrictSchema, ZOD_TYPE } from "./strict-schema.ts";

/** Schema of a turn's final message. */
export interface OutputSchema<Output> {
  /** The `outputSchema` that is sent to Codex. */
  readonly wire: JsonValue;
  /**
   * Parses the final message.
   * @throws {CodexError} `invalid_output` if it does not match the schema.
   */
  parse(text: string): Output;
}

/** Source of an output schema: a schema of zod or another library, which types the output, or JSON Schema. */
export type OutputSchemaInput<Output> = StandardSchema<Output> | JsonSchema;

/**
 * Creates an output schema. With zod the message is validated and typed, including transforms; the model is asked for
 * their input. With JSON Schema only types, properties, items, `enum` and `const` are checked. Optional properties
 * are requested as nullable, and removed from the output if they are null.
 * @throws {CodexError} `invalid_schema` if it is not a JSON Schema, or not one that OpenAI's strict mode supports.
 * @example
 * const schema = outputSchema(z.object({ passed: z.boolean(), reason: z.string().optional() }));
 */
export function outputSchema<Output>(schema: StandardSchema<Output>): OutputSchema<Output>;
export function outputSchema<Output = JsonValue>(schema: JsonSchema): OutputSchema<Output>;
export function outputSchema<Output>(schema: OutputSchemaInput<Output>): OutputSchema<Output> {
  return isReadable<Output>(schema) ? fromStandardSchema(schema) : fromJsonSchema(schema);
}

/** Accepts an output schema or its source. */
export function toOutputSchema<Output>(
  schema: OutputSchema<Output> | OutputSchemaInput<Output>,
): OutputSchema<Output> {
  if (isOutputSchema<Output>(schema)) return schema;
  return isReadable<Output>(schema) ? fromStandardSchema(schema) : fromJsonSchema(schema);
}

function fromStandardSchema<Output>(schema: StandardSchema<Output>): OutputSchema<Output> {
  const json = jsonSchemaOf(schema);
  const wire = toStrictSchema(json) as JsonValue;
  return {
    wire,
    parse: (text) => {
      const result = schema["~standard"].validate(removeAbsent(json, parseJson(text), json));
      if (result instanceof Promise) {
        result.catch(() => {});
        throw invalidSchema("it validates asynchronously, and the output is read synchronously");
      }
      if (result.issues) throw invalidOutput(text, describeIssues(result.issues), result.issues);
      return result.value;
    },
  };
}

function fromJsonSchema<Output>(schema: JsonSchema): OutputSchema<Output> {
  if (!isObject(schema)) {
    throw invalidSchema(`it must be a zod schema or a JSON Schema object, got ${describe(schema)}`);
  }
  if (isZod3(schema)) throw invalidSchema("it is a zod 3 schema; zod 4 is required");
  // A plain copy: later changes, and values that JSON can't represent, must not affect the schema.
  const json = JSON.parse(JSON.stringify(schema)) as JsonSchema;
  const wire = toStrictSchema(json) as JsonValue;
  return {
    wire,
    parse: (text) => {
      const value = parseJson(text);
      const wrong = findMismatch(json, value, json);
      if (wrong !== undefined) throw invalidOutput(text, wrong);
      return removeAbsent(json, value, json) as Output;
    },
  };
}

function jsonSchemaOf(schema: StandardSchema): JsonSchema {
  try {
    return toJsonSchema(schema, {
      // Not thrown here: with the marker, the error can name the path.
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const made = jsonSchema as Record<string, unknown>;
        if (Object.keys(made).length === 0) made[ZOD_TYPE] = zodSchema._zod.def.type;
        // zod's own formats use lookaheads, which the model's server does not support; zod checks them afterwards.
        if (typeof made["pattern"] === "string" && /\(\?[=!<]/.test(made["pattern"])) delete made["pattern"];
      },
    });
  } catch (error) {
    throw invalidSchema(error instanceof Error ? error.message : String(error), error);
  }
}

/** Parses the JSON of a message: all of it, or its last code fence. */
function parseJson(text: string): unknown {
  const fenced = [...text.matchAll(/```[a-z]*\s*\n([^]*?)\n\s*```/gi)].at(-1)?.[1];
  for (const candidate of fenced === undefined ? [text] : [text, fenced]) {
    try {
      return JSON.parse(candidate.trim()) as unknown;
    } catch {
      // Try the next candidate.
    }
  }
  throw invalidOutput(text, "it is not JSON");
}

/** zod 3 follows Standard Schema too, but can't be converted to JSON Schema. */
function isReadable<Output>(schema: unknown): schema is StandardSchema<Output> {
  return isStandardSchema(schema) && !isZod3(schema);
}

function isOutputSchema<Output>(schema: unknown): schema is OutputSchema<Output> {
  return (
    isObject(schema) && !isStandardSchema(schema) && "wire" in schema && typeof schema["parse"] === "function"
  );
}

function describe(schema: unknown): string {
  return Array.isArray(schema) ? "an array" : schema === null ? "null" : `a ${typeof schema}`;
}

function invalidSchema(why: string, cause?: unknown): CodexError {
  return new CodexError("invalid_schema", `The output schema can't be used: ${why}.`, { cause });
}

/** Characters of the message that an error quotes. */
const QUOTED_CHARACTERS = 200;

function invalidOutput(text: string, why: string, cause?: unknown): CodexError {
  const shown = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return new CodexError(
    "invalid_output",
    `The final message does not match the output schema: ${why}\n${shown}`,
    {
      cause,
    },
  );
}
