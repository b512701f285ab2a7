import {
  defineTool,
  type JsonValue,
  type OptionKeys,
  rejectUnknownOptions,
  type StandardSchema,
} from "codexkit";
import type { Budget } from "../limits/budget.ts";
import type { Deadline } from "../limits/deadline.ts";
import { checkValue, isFunction } from "../check-value.ts";
import { PromptError } from "../errors.ts";
import { parseWith } from "../parse-with.ts";
import type { Resources } from "../resources/define-resource.ts";
import type { PromptSession } from "../session/session.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Context passed to a tool's handler. */
export interface PromptToolContext {
  /** State changes made here are undone if the call fails. */
  readonly session: PromptSession;
  readonly resources: Resources;
  /** The evaluation's workspace. Changes to its files are undone if the call fails. */
  readonly workspace: Workspace | undefined;
  readonly deadline: Deadline | undefined;
  readonly budget: Budget | undefined;
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal;
  /** The call's id. */
  readonly callId: string;
  /** Emits a progress event for the evaluation. */
  progress(message: string): void;
}

export interface PromptToolOptions<Input, Output> {
  /** 1 to 64 characters of a-z, 0-9, "_" and "-". */
  readonly name: string;
  /** Tells the model what the tool does and when to call it. */
  readonly description: string;
  readonly input: StandardSchema<Input>;
  /** Schema of the handler's result. Default: any JSON value. */
  readonly output?: StandardSchema<Output>;
  /**
   * Runs the tool in a transaction. If it throws, the session, the resources and the workspace are rolled back, and the model
   * receives the message. Throw {@link ToolFailure} for expected failures.
   */
  readonly handler: (input: Input, context: PromptToolContext) => Output | Promise<Output>;
  /** Formats the result for the model. Default: strings are unchanged, everything else is JSON. */
  readonly format?: (output: Output) => string;
  /** Default: 10 minutes. */
  readonly timeoutMs?: number;
}

/** A tool with its types erased, because the prompt and the dispatcher treat all tools alike. */
export interface AnyPromptTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, JsonValue | undefined>>;
  readonly timeoutMs: number | undefined;
  /**
   * Parses the arguments.
   * @throws {ToolFailure} with a message for the model
   */
  parse(args: unknown): unknown;
  /** Runs the handler with parsed input, checks its output and formats the result for the model. */
  run(
    input: unknown,
    context: PromptToolContext,
  ): Promise<{ readonly value: unknown; readonly text: string }>;
}

const BRAND = Symbol.for("codexkit.ToolFailure");

/** A failure to report to the model. Its message becomes the call's result. */
export class ToolFailure extends Error {
  override readonly name = "ToolFailure";

  /** Whether a value is a `ToolFailure`, including one from another copy of this package. */
  static is(value: unknown): value is ToolFailure {
    return typeof value === "object" && value !== null && BRAND in value;
  }

  get [BRAND](): true {
    return true;
  }
}

const KNOWN: OptionKeys<PromptToolOptions<never, never>> = {
  name: true,
  description: true,
  input: true,
  output: true,
  handler: true,
  format: true,
  timeoutMs: true,
};

const TOOL_NAME = /^[a-z0-9_-]{1,64}$/;

/**
 * Defines a tool for prompts.
 *
 * @example
 * const readTicket = definePromptTool({
 *   name: "read_ticket",
 *   description: "Reads a ticket by its number",
 *   input: z.strictObject({ number: z.int() }),
 *   handler: async ({ number }, { resources }) => (await resources.get(tracker)).read(number),
 * });
 */
export function definePromptTool<Input, Output>(options: PromptToolOptions<Input, Output>): AnyPromptTool {
  rejectUnknownOptions("definePromptTool", options, KNOWN as OptionKeys<PromptToolOptions<Input, Output>>);
  const { name, description, input, output, handler, format = formatValue, timeoutMs } = options;
  if (typeof name !== "string" || !TOOL_NAME.test(name)) {
    throw new PromptError(
      "invalid_definition",
      `A tool's name must have 1 to 64 characters of a-z, 0-9, "_" and "-", got ${JSON.stringify(name)}.`,
    );
  }
  if (typeof handler !== "function")
    throw new PromptError("invalid_definition", `The tool "${name}" needs a handler function.`);
  const what = `The tool "${name}"`;
  const isPositive = (value: unknown): boolean => typeof value === "number" && value > 0;
  checkValue(`${what}: timeoutMs`, timeoutMs, "a number above 0", isPositive, "invalid_definition");
  checkValue(`${what}: format`, options.format, "a function", isFunction, "invalid_definition");
  // The SDK's `defineTool` checks that the schema is an object and can be converted to JSON Schema.
  const { inputSchema } = defineTool({
    name,
    description,
    input,
    execute: () => undefined,
  });
  return {
    name,
    description,
    inputSchema,
    timeoutMs,
    parse: (args) => {
      const parsed = parseWith(input, args);
      if ("value" in parsed) return parsed.value;
      throw new ToolFailure(`The arguments of ${name} are invalid:\n${parsed.problem}`);
    },
    run: async (value, context) => {
      const result = await handler(value as Input, context);
      const checked = output ? checkOutput(name, output, result) : result;
      return { value: checked, text: format(checked) };
    },
  };
}

function checkOutput<Output>(name: string, schema: StandardSchema<Output>, value: unknown): Output {
  const parsed = parseWith(schema, value);
  if ("value" in parsed) return parsed.value;
  throw new Error(`${name} returned a value that its output schema rejects:
${parsed.problem}`);
}

function formatValue(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined ? "Done." : JSON.stringify(value);
}
