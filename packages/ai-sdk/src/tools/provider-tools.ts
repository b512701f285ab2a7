import { type AnyTool, defineTool } from "codexkit";
import type { z } from "zod";

/** Context passed to a provider's tool, in addition to its input. */
export interface CodexToolContext {
  readonly toolCallId: string;
  readonly threadId: string;
  readonly turnId: string;
  /** Aborts when the result is no longer needed: the turn ended, or the call timed out. */
  readonly abortSignal: AbortSignal;
}

/**
 * A tool that is available in every thread of a provider. This program runs it during a turn, without ending the step. An AI SDK
 * `tool()` with a zod schema is accepted.
 */
export interface CodexTool {
  /** What the tool does. Only a string is used; a function, which the AI SDK would call per request, is not supported. */
  readonly description?: string | ((options: never) => string) | undefined;
  /** A zod object schema or a JSON Schema. */
  readonly inputSchema: unknown;
  /** Runs the tool. The returned value becomes the result, as JSON or text; exceptions are reported to the model as errors. */
  readonly execute?: ((input: never, context: never) => unknown) | undefined;
  /** How long a call may take. Default: the provider's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined;
}

/** A provider's tool in the form that a thread accepts. */
export type ProviderTool = Extract<AnyTool, { readonly type: "tool" }>;

export function defineProviderTools(
  tools: Readonly<Record<string, CodexTool>>,
  toolTimeoutMs: number | undefined,
): ProviderTool[] {
  return Object.entries(tools).map(([name, { description, inputSchema, execute, timeoutMs }]) => {
    const limit = timeoutMs ?? toolTimeoutMs;
    return defineTool({
      name,
      description: typeof description === "string" ? description : "",
      input: inputSchema as z.ZodType,
      ...(limit !== undefined && { timeoutMs: limit }),
      parallel: true,
      execute: async (input, { callId, signal, threadId, turnId }) => {
        const context: CodexToolContext = { toolCallId: callId, threadId, turnId, abortSignal: signal };
        return await execute?.(input as never, context as never);
      },
    });
  });
}
