import type {
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import type { Content, ReadContext } from "./read-file.ts";
import { readToolOutput } from "./tool-output.ts";

/** Results by the id of their call; the newest counts. */
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
 * The results of client tools after the last assistant message. The AI SDK also adds a result for a provider's tool that a
 * person denied, for which no turn waits.
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

/** The results in a prompt: those of client tools in tool messages, those of the provider next to their calls. */
export function resultParts(prompt: LanguageModelV4Prompt): LanguageModelV4ToolResultPart[] {
  return prompt.flatMap((message): LanguageModelV4ToolResultPart[] => {
    if (message.role === "assistant") return message.content.filter((part) => part.type === "tool-result");
    if (message.role === "tool") return message.content.filter((part) => part.type === "tool-result");
    return [];
  });
}
