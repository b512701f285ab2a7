import type { LanguageModelV4ToolCallPart, LanguageModelV4ToolResultPart } from "@ai-sdk/provider";
import { callItems } from "./history.ts";
import { createReadContext } from "./read-file.ts";
import type { ApprovalResponse, PromptContext, ReadPrompt } from "./read-prompt.ts";
import type { ThreadOrigin } from "./thread-of.ts";
import { toToolResult } from "./tool-output.ts";
import { readToolResults } from "./tool-results.ts";

/** Answers to all requests of a step. */
export interface StepAnswers {
  /** The waiting thread and turn. */
  readonly origin: ThreadOrigin;
  /** The step's tool calls, answered or not. */
  readonly calls: readonly Pick<LanguageModelV4ToolCallPart, "toolCallId" | "toolName" | "input">[];
  readonly toolResults: readonly LanguageModelV4ToolResultPart[];
  readonly approvals: readonly ApprovalResponse[];
}

/** Reads answers that come without a prompt. If the turn no longer exists, the calls and their results become history. */
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
