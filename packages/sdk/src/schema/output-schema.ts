import type { JsonValue } from "@codexkit/protocol";
import { messageOf } from "@codexkit/rpc/async";
import { describeIssues, toJsonSchema } from "./convert-schema.ts";
import type { JsonSchema } from "./json-schema.ts";
import {
  fromJsonSchema,
  invalidOutput,
  invalidSchema,
  isReadable,
  type OutputSchema,
  type OutputSchemaInput,
  parseJson,
} from "./json-output-schema.ts";
import { removeAbsent } from "./json-shape.ts";
import type { StandardSchema } from "./standard-schema.ts";
import { toStrictSchema, ZOD_TYPE } from "./strict-schema.ts";

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

function jsonSchemaOf(schema: StandardSchema): JsonSchema {
  try {
    return toJsonSchema(schema, {
      // Doesn't throw here: with the marker, the error can name the path.
      unrepresentable: "any",
      override: ({ zodSchema, jsonSchema }) => {
        const made = jsonSchema as Record<string, unknown>;
        if (Object.keys(made).length === 0) made[ZOD_TYPE] = zodSchema._zod.def.type;
        // zod's own formats use lookaheads, which the model's server does not support; zod checks them afterwards.
        if (typeof made["pattern"] === "string" && /\(\?[=!<]/.test(made["pattern"])) delete made["pattern"];
      },
    });
  } catch (error) {
    throw invalidSchema(messageOf(error), error);
  }
}
