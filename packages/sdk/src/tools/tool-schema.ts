import { messageOf } from "@codexkit/rpc/async";
import { z } from "zod";
import { isZod3 } from "../schema/json-schema.ts";
import { describeIssues, toJsonSchema } from "../schema/convert-schema.ts";
import { isStandardSchema, type StandardSchema } from "../schema/standard-schema.ts";
import { invalidTool } from "./tool-name.ts";
import { type JsonObject, ToolInputError } from "./tool.ts";

/** The schema sent to the model, and the validation of the arguments it sends back. */
export interface ToolSchema {
  readonly inputSchema: JsonObject;
  /** Returns the input for `execute`. Throws a `ToolInputError` whose message is for the model. */
  readonly parse: (args: unknown) => Promise<unknown>;
}

/** Converts a schema, or accepts a JSON Schema unchanged. Throws `invalid_tool` if it does not describe an object. */
export function toToolSchema(name: string, input: unknown): ToolSchema {
  if (isStandardSchema(input) && !isZod3(input)) return fromStandardSchema(name, input);
  if (typeof input !== "object" || input === null) {
    throw invalidTool("tool", name, "input is neither a zod schema nor a JSON Schema object");
  }
  if (isZod3(input)) throw invalidTool("tool", name, "input is a zod 3 schema; zod 4 is required");
  return fromJsonSchema(name, input as JsonObject);
}

function fromStandardSchema(name: string, schema: StandardSchema): ToolSchema {
  let inputSchema: JsonObject;
  try {
    const { $schema: _, ...json } = toJsonSchema(schema, {
      override: ({ jsonSchema: made }) => {
        // zod allows unknown keys in input because it drops them. Models do better if the schema forbids them.
        if (made.type === "object" && made.properties && made.additionalProperties === undefined) {
          made.additionalProperties = false;
        }
      },
    });
    inputSchema = json as JsonObject;
  } catch (cause) {
    throw invalidTool("tool", name, `input can't be converted to JSON Schema: ${messageOf(cause)}`, {
      cause,
    });
  }
  checkShape(name, inputSchema);
  return {
    inputSchema,
    parse: async (args) => {
      const result = await schema["~standard"].validate(args);
      if (result.issues) throw new ToolInputError(describeIssues(result.issues));
      return result.value;
    },
  };
}

/** Validates arguments as far as zod (from 4.2 on) supports the schema's keywords. Otherwise they are not validated. */
function fromJsonSchema(name: string, inputSchema: JsonObject): ToolSchema {
  checkShape(name, inputSchema);
  let validator: z.ZodType | undefined;
  try {
    JSON.stringify(inputSchema);
  } catch (cause) {
    throw invalidTool("tool", name, `input is not JSON: ${messageOf(cause)}`, { cause });
  }
  try {
    validator = z.fromJSONSchema(inputSchema);
  } catch {
    validator = undefined;
  }
  return {
    inputSchema,
    parse: async (args) => {
      const error = validator?.safeParse(args).error;
      if (error) throw new ToolInputError(describeIssues(error.issues));
      return args;
    },
  };
}

/** Rejects schemas that Codex rejects, and those that it accepts although no model can be offered them. */
function checkShape(name: string, { type, properties, required }: JsonObject): void {
  if (type !== "object") {
    throw invalidTool("tool", name, 'the JSON Schema of input must have the type "object"');
  }
  if (
    properties !== undefined &&
    (typeof properties !== "object" || !properties || Array.isArray(properties))
  ) {
    throw invalidTool("tool", name, "the schema's properties must be an object");
  }
  if (required !== undefined && !Array.isArray(required)) {
    throw invalidTool("tool", name, "the schema's required must be an array");
  }
}
