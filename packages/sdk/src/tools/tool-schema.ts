import { z } from "zod";
import { CodexError } from "../errors.ts";
import { isZod3 } from "../schema/json-schema.ts";
import {
  describeIssues,
  isStandardSchema,
  type StandardSchema,
  toJsonSchema,
} from "../schema/standard-schema.ts";
import { invalidTool } from "./tool-name.ts";
import { type JsonObject, ToolInputError } from "./tool.ts";

/** What the model is told, and the check of what it sends. */
export interface ToolSchema {
  readonly inputSchema: JsonObject;
  /** The input that `execute` gets. Throws a `ToolInputError` with words for the model. */
  readonly parse: (args: unknown) => Promise<unknown>;
}

/** Reads a schema, or JSON Schema as it stands. Throws `invalid_tool` for what describes no object. */
export function toolSchema(name: string, input: unknown): ToolSchema {
  if (isStandardSchema(input) && !isZod3(input)) return fromStandardSchema(name, input);
  if (typeof input !== "object" || input === null) {
    throw invalidTool("tool", name, "input is neither a zod schema nor a JSON Schema object");
  }
  if (isZod3(input)) throw invalidTool("tool", name, "input is a schema of zod 3; zod 4 is needed");
  return jsonSchema(name, input as JsonObject);
}

function fromStandardSchema(name: string, schema: StandardSchema): ToolSchema {
  let inputSchema: JsonObject;
  try {
    const { $schema: _, ...json } = toJsonSchema(schema, {
      override: ({ jsonSchema: made }) => {
        // zod leaves this open for input, since it drops unknown keys; a model does better without the freedom.
        if (made.type === "object" && made.properties && made.additionalProperties === undefined) {
          made.additionalProperties = false;
        }
      },
    });
    inputSchema = json as JsonObject;
  } catch (cause) {
    throw invalidTool("tool", name, `input can't be written as JSON Schema: ${messageOf(cause)}`, { cause });
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

/** JSON Schema is checked as far as zod understands it (from 4.2 on); with keywords that it does not, the arguments pass unread. */
function jsonSchema(name: string, inputSchema: JsonObject): ToolSchema {
  checkShape(name, inputSchema);
  let check: z.ZodType | undefined;
  try {
    JSON.stringify(inputSchema);
  } catch (cause) {
    throw invalidTool("tool", name, `input is not JSON: ${messageOf(cause)}`, { cause });
  }
  try {
    check = z.fromJSONSchema(inputSchema);
  } catch {
    check = undefined;
  }
  return {
    inputSchema,
    parse: async (args) => {
      const error = check?.safeParse(args).error;
      if (error) throw new ToolInputError(describeIssues(error.issues));
      return args;
    },
  };
}

/** What Codex refuses in a schema, and what it takes although a model can't be offered it. */
function checkShape(name: string, { type, properties, required }: JsonObject): void {
  if (type !== "object") {
    throw invalidTool("tool", name, 'input must describe an object: its JSON Schema has no type "object"');
  }
  if (
    properties !== undefined &&
    (typeof properties !== "object" || !properties || Array.isArray(properties))
  ) {
    throw invalidTool("tool", name, "the schema's properties are no object");
  }
  if (required !== undefined && !Array.isArray(required)) {
    throw invalidTool("tool", name, "the schema's required is no list");
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof CodexError || thrown instanceof Error ? thrown.message : String(thrown);
}
