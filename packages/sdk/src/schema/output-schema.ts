import type { JsonValue } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";
import { isObject, isZod3, type JsonSchema } from "./json-schema.ts";
import { mismatch, withoutAbsent } from "./json-shape.ts";
import { describeIssues, isStandardSchema, type StandardSchema, toJsonSchema } from "./standard-schema.ts";
import { toStrictSchema, ZOD_TYPE } from "./strict-schema.ts";

/** What the final message of a turn must look like, and how it is read. */
export interface OutputSchema<Output> {
  /** What goes to Codex as `outputSchema`. */
  readonly wire: JsonValue;
  /**
   * Reads the final message.
   * @throws {CodexError} `invalid_output` when it is not what the schema asks for.
   */
  parse(text: string): Output;
}

/** What an output schema is made of: a schema of zod or another library, which types the output, or JSON Schema. */
export type OutputSchemaInput<Output> = StandardSchema<Output> | JsonSchema;

/**
 * Makes an output schema. With zod the message is validated and typed by it, transforms included; the model is asked for
 * what goes into them. With JSON Schema the message is only checked lightly: types, properties, items, `enum` and `const`.
 * An optional property is asked for as nullable, and left out of the output when it is null.
 * @throws {CodexError} `invalid_schema` when it is not JSON Schema, or none that OpenAI's strict mode takes.
 * @example
 * const schema = outputSchema(z.object({ passed: z.boolean(), reason: z.string().optional() }));
 */
export function outputSchema<Output>(schema: StandardSchema<Output>): OutputSchema<Output>;
export function outputSchema<Output = JsonValue>(schema: JsonSchema): OutputSchema<Output>;
export function outputSchema<Output>(schema: OutputSchemaInput<Output>): OutputSchema<Output> {
  return isReadable<Output>(schema) ? fromStandardSchema(schema) : fromJsonSchema(schema);
}

/** The same for what may be an output schema already. */
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
      const result = schema["~standard"].validate(withoutAbsent(json, parseJson(text), json));
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
  if (isZod3(schema)) throw invalidSchema("it is a schema of zod 3; zod 4 is needed");
  // A copy of what is plain: what changes later, and what JSON can't say, has no place in a schema.
  const json = JSON.parse(JSON.stringify(schema)) as JsonSchema;
  const wire = toStrictSchema(json) as JsonValue;
  return {
    wire,
    parse: (text) => {
      const value = parseJson(text);
      const wrong = mismatch(json, value, json);
      if (wrong !== undefined) throw invalidOutput(text, wrong);
      return withoutAbsent(json, value, json) as Output;
    },
  };
}

function jsonSchemaOf(schema: StandardSchema): JsonSchema {
  try {
    return toJsonSchema(schema, {
      // Not thrown here: the marker lets the strict schema say where it is.
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const made = jsonSchema as Record<string, unknown>;
        if (Object.keys(made).length === 0) made[ZOD_TYPE] = zodSchema._zod.def.type;
        // The regular expressions of zod's own formats look ahead, which the model's side can't; zod checks them after.
        if (typeof made["pattern"] === "string" && /\(\?[=!<]/.test(made["pattern"])) delete made["pattern"];
      },
    });
  } catch (error) {
    throw invalidSchema(error instanceof Error ? error.message : String(error), error);
  }
}

/** The JSON of a message: alone, or in the last code fence of a text around it. */
function parseJson(text: string): unknown {
  const fenced = [...text.matchAll(/```[a-z]*\s*\n([^]*?)\n\s*```/gi)].at(-1)?.[1];
  for (const candidate of fenced === undefined ? [text] : [text, fenced]) {
    try {
      return JSON.parse(candidate.trim()) as unknown;
    } catch {
      // Not this one.
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

/** How much of a message an error shows. */
const SHOWN_CHARACTERS = 200;

function invalidOutput(text: string, why: string, cause?: unknown): CodexError {
  const shown = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)}…` : text;
  return new CodexError("invalid_output", `The final message is not what was asked for: ${why}\n${shown}`, {
    cause,
  });
}
