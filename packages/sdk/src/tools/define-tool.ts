import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { SchemaOutput, StandardSchema } from "../schema/standard-schema.ts";
import { TOOL_LIMITS } from "./limits.ts";
import { checkNamespace, checkToolName, invalidTool } from "./tool-name.ts";
import { toToolSchema } from "./tool-schema.ts";
import type { JsonObject, Tool, ToolContext, ToolNamespace } from "./tool.ts";

export type { AnyTool, ToolContext, ToolResult } from "./tool.ts";

/** Definition of a tool. */
export interface ToolDefinition<Schema, Input> {
  readonly name: string;
  /** Describes to the model what the tool does and when to call it. Be precise: Codex shows the model few schema details. */
  readonly description: string;
  /** A zod schema of an object, or a JSON Schema. */
  readonly input: Schema;
  /**
   * Runs the tool. The return value becomes the result: a string, `{ text }`, `{ image }`, `{ audio }`, an array of these, any
   * other value as JSON, or nothing. If it throws, the model gets the error message and the turn continues.
   */
  readonly execute: (input: Input, context: ToolContext) => unknown;
  /** Adds the tool to a namespace. Use `toolNamespace` to describe the namespace. */
  readonly namespace?: string;
  /** Hides the tool until the model searches for it. Only valid inside a namespace. */
  readonly deferLoading?: boolean;
  /** Timeout of a call. Default: 10 minutes. */
  readonly timeoutMs?: number;
  /** Whether calls of one thread may run in parallel. Default: false, one call at a time. */
  readonly parallel?: boolean;
}

const KNOWN: OptionKeys<ToolDefinition<unknown, never>> = {
  name: true,
  description: true,
  input: true,
  execute: true,
  namespace: true,
  deferLoading: true,
  timeoutMs: true,
  parallel: true,
};

/**
 * Defines a tool. Throws a `CodexError` with code `invalid_tool` if Codex would reject the tool, or accept it and never call it.
 *
 * @example
 * const add = defineTool({
 *   name: "add",
 *   description: "Adds two numbers",
 *   input: z.object({ a: z.number(), b: z.number() }),
 *   execute: ({ a, b }) => `${a + b}`,
 * });
 */
export function defineTool<Schema extends StandardSchema>(
  definition: ToolDefinition<Schema, SchemaOutput<Schema>>,
): Tool;
export function defineTool<Input = JsonObject>(definition: ToolDefinition<JsonObject, Input>): Tool;
export function defineTool(definition: ToolDefinition<unknown, never>): Tool {
  rejectUnknownOptions("defineTool", definition, KNOWN);
  const { name, description, namespace, deferLoading = false, parallel = false } = definition;
  const { timeoutMs = TOOL_LIMITS.callTimeoutMs } = definition;
  checkToolName(name, namespace);
  if (!(timeoutMs > 0)) throw invalidTool("tool", name, "timeoutMs must be greater than 0");
  const { inputSchema, parse } = toToolSchema(name, definition.input);
  return {
    type: "tool",
    name,
    description,
    namespace,
    deferLoading,
    timeoutMs,
    parallel,
    inputSchema,
    // `parse` returns the schema's output type, which `execute` accepts.
    invoke: async (args, context) => definition.execute((await parse(args)) as never, context),
  };
}

/** Groups tools in a namespace. The model sees them together, with this description. */
export function toolNamespace(definition: {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly Tool[];
}): ToolNamespace {
  const { name, description, tools } = definition;
  checkNamespace(name, description);
  const stray = tools.find(({ namespace }) => namespace !== undefined && namespace !== name);
  if (stray) {
    throw invalidTool("tool", stray.name, `it belongs to two namespaces, ${stray.namespace} and ${name}`);
  }
  return {
    type: "namespace",
    name,
    description,
    tools: tools.map((tool) => Object.assign({}, tool, { namespace: name })),
  };
}
