import type { LanguageModelV4ToolCallPart, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { callItems } from "./history.ts";
import { createReadContext } from "./read-file.ts";
import type { ApprovalResponse, PromptContext, ReadPrompt } from "./read-prompt.ts";
import type { ThreadOrigin } from "./thread-of.ts";
import { toToolResult } from "./tool-output.ts";
import { readToolResults } from "./tool-results.ts";

/** Answers to everything that a step of a turn asked for. */
export interface StepAnswers {
  /** The thread and the turn that wait for them. */
  readonly origin: ThreadOrigin;
  /** The tool calls of the step, answered or not. */
  readonly calls: readonly Pick<LanguageModelV4ToolCallPart, "toolCallId" | "toolName" | "input">[];
  readonly toolResults: readonly LanguageModelV4ToolResultPart[];
  readonly approvals: readonly ApprovalResponse[];
}

/** Reads answers that come without a prompt. A thread that has lost the turn gets the calls and their results as history. */
export async function readAnswers(
  { origin, calls, toolResults, approvals }: StepAnswers,
  { signal, fetch }: Pick<PromptContext, "signal" | "fetch">,
): Promise<ReadPrompt> {
  const { context, warnings } = createReadContext({ signal, fetch });
  const results = await readToolResults(toolResults, context);
  return {
    instructions: undefined,
    thread: origin,
    input: [],
    digests: { entries: [], messages: [], prefixLength: 0 },
    messages: [],
    readHistory: async () => ({
      items: calls.flatMap((call) => callItems(call, results.get(call.toolCallId))),
      warnings: [],
    }),
    knownCalls: new Set(calls.map(({ toolCallId }) => toolCallId)),
    toolResults: toolResults.map(({ toolCallId, toolName, output }) => ({
      toolCallId,
      toolName,
      output,
      result: toToolResult(results.get(toolCallId) ?? []),
    })),
    approvals,
    warnings,
  };
}
