import type {
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import type { Content, ReadContext } from "./read-file.ts";
import { readToolOutput } from "./tool-output.ts";

/** Reads results by call id. If a call has several results, the newest is used. */
export async function readToolResults(
  parts: readonly LanguageModelV4ToolResultPart[],
  context: ReadContext,
): Promise<ReadonlyMap<string, readonly Content[]>> {
  const newest = new Map(parts.map((part) => [part.toolCallId, part]));
  const read = await Promise.all(
    Array.from(
      newest.values(),
      async ({ toolCallId, output }) => [toolCallId, await readToolOutput(output, context)] as const,
    ),
  );
  return new Map(read);
}

/**
 * Returns the client tool results after the last assistant message. Excludes the result that the AI SDK adds for a provider's
 * tool that a person denied, because no turn waits for it.
 */
export function clientToolResults(
  prompt: LanguageModelV4Prompt,
  since: LanguageModelV4Prompt,
  tools: ReadonlySet<string>,
): readonly LanguageModelV4ToolResultPart[] {
  const calls = new Map(callParts(prompt).map((part) => [part.toolCallId, part]));
  return resultParts(since).filter(({ toolCallId, toolName }) => {
    const call = calls.get(toolCallId);
    return call === undefined ? tools.has(toolName) : call.providerExecuted !== true;
  });
}

export function callParts(prompt: LanguageModelV4Prompt): LanguageModelV4ToolCallPart[] {
  return prompt.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call") : [],
  );
}

/** Returns all results in a prompt. Client tool results are in tool messages, provider results next to their calls. */
export function resultParts(prompt: LanguageModelV4Prompt): LanguageModelV4ToolResultPart[] {
  return prompt.flatMap((message): LanguageModelV4ToolResultPart[] => {
    if (message.role === "assistant") return message.content.filter((part) => part.type === "tool-result");
    if (message.role === "tool") return message.content.filter((part) => part.type === "tool-result");
    return [];
  });
}
