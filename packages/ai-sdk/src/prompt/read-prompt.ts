import type {
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultOutput,
  SharedV4Warning,
} from "@ai-sdk/provider";
import type { InputPart, JsonValue, ToolResult } from "codexkit";
import { readHistory, readUserPart } from "./history.ts";
import { createReadContext } from "./read-file.ts";
import { type ThreadOrigin, threadOf } from "./thread-of.ts";
import { toToolResult } from "./tool-output.ts";
import { callParts, clientToolResults, readToolResults } from "./tool-results.ts";
import { promptEntries, type PromptEntries } from "../transcript/prompt-entries.ts";

/** An AI SDK prompt, split into the parts that Codex receives separately. */
export interface ReadPrompt {
  /** System messages, joined. Undefined if there are none. */
  readonly instructions: string | undefined;
  /** The thread that this prompt continues, according to the metadata of its newest assistant message. */
  readonly thread: ThreadOrigin | undefined;
  /** The turn's input: all user messages after the last assistant message. */
  readonly input: readonly InputPart[];
  /** The whole prompt as digests, and how many of them precede the new input. */
  readonly digests: PromptEntries & { readonly prefixLength: number };
  /** The unchanged prompt. */
  readonly messages: LanguageModelV4Prompt;
  /**
   * Reads the messages before the new input, for a thread that does not contain them.
   * @param from The index of the first message that the thread lacks.
   */
  readonly readHistory: (from?: number) => Promise<History>;
  /** Ids of the tool calls that the caller has seen. */
  readonly knownCalls: ReadonlySet<string>;
  /** Client tool results after the last assistant message, in order. */
  readonly toolResults: readonly ClientToolResult[];
  /** Approval responses after the last assistant message. */
  readonly approvals: readonly ApprovalResponse[];
  readonly warnings: readonly SharedV4Warning[];
}

export interface ClientToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: LanguageModelV4ToolResultOutput;
  readonly result: ToolResult;
}

/** Earlier messages, as Responses API items. */
export interface History {
  readonly items: readonly JsonValue[];
  readonly warnings: readonly SharedV4Warning[];
}

export interface ApprovalResponse {
  readonly approvalId: string;
  readonly approved: boolean;
  readonly reason: string | undefined;
}

export interface PromptContext {
  /** Names of the client tools that this call offers. */
  readonly tools: ReadonlySet<string>;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
}

/** Reads a prompt. Rejects only if a file in the new input can't be downloaded, or if `signal` aborts. */
export async function readPrompt(
  prompt: LanguageModelV4Prompt,
  { tools, signal, fetch }: PromptContext,
): Promise<ReadPrompt> {
  const { context, warnings } = createReadContext({ signal, fetch });
  const newest = prompt.findLastIndex(({ role }) => role === "assistant");
  const since = prompt.slice(newest + 1);
  const asked = since.flatMap((message) => (message.role === "user" ? message.content : []));
  const answers = since.flatMap((message) => (message.role === "tool" ? message.content : []));
  const answered = clientToolResults(prompt, since, tools);

  const results = await readToolResults(answered, context);
  const input = await Promise.all(
    asked.map((part) => readUserPart(part, { ...context, unreachable: "reject" })),
  );
  const digests = promptEntries(prompt);
  return {
    instructions: instructionsOf(prompt),
    thread: threadOf(prompt),
    input: input.map((content) =>
      content.type === "text" ? { text: content.text } : { image: content.dataUrl },
    ),
    digests: { ...digests, prefixLength: digests.messages.filter((message) => message <= newest).length },
    messages: prompt,
    readHistory: async (from = 0) => {
      const { context: reading, warnings: lost } = createReadContext({ signal, fetch });
      const items = await readHistory(prompt, results, reading, from);
      return { items, warnings: lost };
    },
    knownCalls: new Set(callParts(prompt).map(({ toolCallId }) => toolCallId)),
    toolResults: answered.map(({ toolCallId, toolName, output }) => ({
      toolCallId,
      toolName,
      output,
      result: toToolResult(results.get(toolCallId) ?? []),
    })),
    approvals: answers.flatMap((part) =>
      part.type === "tool-approval-response"
        ? [{ approvalId: part.approvalId, approved: part.approved, reason: part.reason }]
        : [],
    ),
    warnings,
  };
}

function instructionsOf(prompt: LanguageModelV4Prompt): string | undefined {
  const texts = prompt.flatMap((message) => (message.role === "system" ? [message.content] : []));
  return texts.length === 0 ? undefined : texts.join("\n\n");
}
