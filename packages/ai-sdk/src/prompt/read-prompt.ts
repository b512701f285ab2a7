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

/** A prompt of the AI SDK, split by how Codex receives its parts. */
export interface ReadPrompt {
  /** System messages, joined; undefined without any. */
  readonly instructions: string | undefined;
  /** The thread that this prompt continues, from the metadata of its newest assistant message. */
  readonly thread: ThreadOrigin | undefined;
  /** Input of the turn: all user messages after the last assistant message. */
  readonly input: readonly InputPart[];
  /** The whole prompt, reduced to digests, and how many of them come before the new input. */
  readonly digests: PromptEntries & { readonly prefixLength: number };
  /** The prompt as it was passed. */
  readonly messages: LanguageModelV4Prompt;
  /**
   * Reads the messages before the new input, for a thread that does not have them.
   * @param from The index of the first one that the thread lacks.
   */
  readonly readHistory: (from?: number) => Promise<History>;
  /** The ids of the tool calls that the caller has seen. */
  readonly knownCalls: ReadonlySet<string>;
  /** Results of client tools that came after the last assistant message, in order. */
  readonly toolResults: readonly ClientToolResult[];
  /** Answers to requests for approval that came after the last assistant message. */
  readonly approvals: readonly ApprovalResponse[];
  readonly warnings: readonly SharedV4Warning[];
}

export interface ClientToolResult {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: LanguageModelV4ToolResultOutput;
  readonly result: ToolResult;
}

/** Earlier messages, as items of the Responses API. */
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
  /** The names of the client tools offered in this call. */
  readonly tools: ReadonlySet<string>;
  readonly signal?: AbortSignal;
  readonly fetch?: typeof fetch;
}

/** Reads a prompt. Rejects only if a file of the new input can't be downloaded, or if `signal` aborts. */
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
