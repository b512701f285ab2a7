import { type OptionKeys, rejectUnknownOptions } from "../options/reject-unknown-options.ts";
import type { SchemaOutput, StandardSchema } from "../schema/standard-schema.ts";
import { toolLimits } from "./limits.ts";
import { checkNamespace, checkToolName, invalidTool } from "./tool-name.ts";
import { toolSchema } from "./tool-schema.ts";
import type { JsonObject, Tool, ToolContext, ToolNamespace } from "./tool.ts";

export type { AnyTool, ToolContext, ToolResult } from "./tool.ts";

/** What makes a tool. */
export interface ToolDefinition<Schema, Input> {
  readonly name: string;
  /** Tells the model what the tool does and when to call it. Worth its words: Codex shows the model few details of a schema. */
  readonly description: string;
  /** A zod schema of an object, or JSON Schema. */
  readonly input: Schema;
  /**
   * Runs the tool. What it returns becomes the result: a text, `{ text }`, `{ image }`, `{ audio }`, a list of these, any other
   * value as JSON, or nothing. What it throws is told to the model; the turn goes on.
   */
  readonly execute: (input: Input, context: ToolContext) => unknown;
  /** Puts the tool into a namespace; `toolNamespace` gives that a description too. */
  readonly namespace?: string;
  /** Hides the tool until the model searches for it. Only inside a namespace. */
  readonly deferLoading?: boolean;
  /** How long a call may take; ten minutes unless told. */
  readonly timeoutMs?: number;
  /** Whether calls of one thread may run side by side. Without it they run one after the other. */
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
 * Makes a tool of a function. Throws a `CodexError` `invalid_tool` for what Codex would refuse, or take and never call.
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
  const { timeoutMs = toolLimits.callTimeoutMs } = definition;
  checkToolName(name, namespace);
  if (!(timeoutMs > 0)) throw invalidTool("tool", name, "timeoutMs is not above 0");
  const { inputSchema, parse } = toolSchema(name, definition.input);
  return {
    type: "tool",
    name,
    description,
    namespace,
    deferLoading,
    timeoutMs,
    parallel,
    inputSchema,
    // `parse` gives what the schema promises, which is what `execute` takes.
    invoke: async (args, context) => definition.execute((await parse(args)) as never, context),
  };
}

/** Puts tools under one roof: the model sees them together, with this description. */
export function toolNamespace(definition: {
  readonly name: string;
  readonly description: string;
  readonly tools: readonly Tool[];
}): ToolNamespace {
  const { name, description, tools } = definition;
  checkNamespace(name, description);
  const stray = tools.find(({ namespace }) => namespace !== undefined && namespace !== name);
  if (stray) {
    throw invalidTool("tool", stray.name, `it is in two namespaces, ${stray.namespace} and ${name}`);
  }
  return {
    type: "namespace",
    name,
    description,
    tools: tools.map((tool) => Object.assign({}, tool, { namespace: name })),
  };
}
