import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
} from "@ai-sdk/provider";
import { callDigest, type CallEntry, type Entry, fileEntry, outputDigest, textEntry } from "./entry.ts";

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

/** A prompt's entries, each with the index of its message. */
export interface PromptEntries {
  readonly entries: readonly Entry[];
  readonly messages: readonly number[];
}

/**
 * Reduces a prompt to entries that can be compared with a thread. Uses the first occurrence of a call and its newest result,
 * because the AI SDK repeats calls in later steps and keeps preliminary results.
 */
export function promptEntries(prompt: LanguageModelV4Prompt): PromptEntries {
  const results = newestResults(prompt);
  const entries: Entry[] = [];
  const messages: number[] = [];
  const calls = new Set<string>();
  const add = (message: number, entry: Entry | undefined): void => {
    if (entry === undefined) return;
    entries.push(entry);
    messages.push(message);
  };
  for (const [index, { role, content }] of prompt.entries()) {
    if (role === "user") {
      for (const part of content) {
        add(index, part.type === "text" ? textEntry("user", part.text) : fileEntry("user", part.data));
      }
    }
    if (role !== "assistant") continue;
    for (const part of content) {
      if (part.type === "tool-call") {
        if (!calls.has(part.toolCallId)) add(index, callEntry(part, results));
        calls.add(part.toolCallId);
      } else {
        add(index, assistantEntry(part));
      }
    }
  }
  return { entries, messages };
}

function assistantEntry(part: AssistantPart): Entry | undefined {
  if (part.type === "text") return part.text === "" ? undefined : textEntry("assistant", part.text);
  return part.type === "file" ? fileEntry("assistant", part.data) : undefined;
}

interface NewestResult {
  readonly digest: string;
  readonly isDenied: boolean;
}

function callEntry(
  { toolCallId, toolName, input }: Extract<AssistantPart, { type: "tool-call" }>,
  results: ReadonlyMap<string, NewestResult>,
): CallEntry {
  const result = results.get(toolCallId);
  return {
    kind: "call",
    callId: toolCallId,
    digest: callDigest(toolName, input),
    result: result?.digest,
    ...(result?.isDenied && { isDenied: true }),
  };
}

function newestResults(prompt: LanguageModelV4Prompt): ReadonlyMap<string, NewestResult> {
  const newest = new Map<string, NewestResult>();
  const hasRefusal = prompt.some(
    ({ role, content }) =>
      role === "tool" && content.some((part) => part.type === "tool-approval-response" && !part.approved),
  );
  for (const { toolCallId, output } of resultParts(prompt)) {
    const isDenied = hasRefusal && output?.type === "execution-denied";
    if (!isDenied || !newest.has(toolCallId))
      newest.set(toolCallId, { digest: outputDigest(output), isDenied });
  }
  return newest;
}

function resultParts(prompt: LanguageModelV4Prompt): LanguageModelV4ToolResultPart[] {
  return prompt.flatMap((message): LanguageModelV4ToolResultPart[] =>
    message.role === "assistant" || message.role === "tool"
      ? (message.content as readonly { readonly type: string }[]).filter(
          (part): part is LanguageModelV4ToolResultPart => part.type === "tool-result",
        )
      : [],
  );
}
