import type { JsonValue } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";
import { isObject, isZod3, type JsonSchema } from "./json-schema.ts";
import { findMismatch, removeAbsent } from "./json-shape.ts";
import { isStandardSchema, type StandardSchema } from "./standard-schema.ts";
import { toStrictSchema } from "./strict-schema.ts";

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

/** Creates an output schema from JSON Schema. */
export function fromJsonSchema<Output>(schema: JsonSchema): OutputSchema<Output> {
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

/** Parses the JSON of a message: all of it, or its last code fence. */
export function parseJson(text: string): unknown {
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
export function isReadable<Output>(schema: unknown): schema is StandardSchema<Output> {
  return isStandardSchema(schema) && !isZod3(schema);
}

export function isOutputSchema<Output>(schema: unknown): schema is OutputSchema<Output> {
  return (
    isObject(schema) && !isStandardSchema(schema) && "wire" in schema && typeof schema["parse"] === "function"
  );
}

function describe(schema: unknown): string {
  return Array.isArray(schema) ? "an array" : schema === null ? "null" : `a ${typeof schema}`;
}

export function invalidSchema(why: string, cause?: unknown): CodexError {
  return new CodexError("invalid_schema", `The output schema can't be used: ${why}.`, { cause });
}

/** Characters of the message that an error quotes. */
const QUOTED_CHARACTERS = 200;

export function invalidOutput(text: string, why: string, cause?: unknown): CodexError {
  const shown = text.length > QUOTED_CHARACTERS ? `${text.slice(0, QUOTED_CHARACTERS)}…` : text;
  return new CodexError(
    "invalid_output",
    `The final message does not match the output schema: ${why}\n${shown}`,
    {
      cause,
    },
  );
}
