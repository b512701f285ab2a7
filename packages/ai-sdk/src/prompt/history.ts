import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolCallPart,
} from "@ai-sdk/provider";
import type { JsonValue } from "codexkit";
import { createHash } from "node:crypto";
import { promptLimits } from "./limits.ts";
import { type Content, readFile, type ReadContext } from "./read-file.ts";
import { toInputContent, toOutputBody } from "./tool-output.ts";
import { callParts, readToolResults, resultParts } from "./tool-results.ts";

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

/**
 * Converts the messages before the new input to Responses API items, as a thread would store them. Each tool call is followed by
 * its result, which may be in a later message, because the API rejects one without the other.
 *
 * @param known Results that have already been read.
 * @param from The index of the first message to convert.
 */
export async function readHistory(
  prompt: LanguageModelV4Prompt,
  known: ReadonlyMap<string, readonly Content[]>,
  context: ReadContext,
  from = 0,
): Promise<readonly JsonValue[]> {
  const newest = prompt.findLastIndex(({ role }) => role === "assistant");
  const all = prompt.slice(0, newest + 1);
  const earlier = all.slice(from);
  warnOfStrayResults(all, context);
  const unread = resultParts(prompt).filter(({ toolCallId }) => !known.has(toolCallId));
  const results = new Map([...known, ...(await readToolResults(unread, context))]);
  // A call whose result came in a later step is part of both steps, but the API accepts each call only once.
  const firsts = new Map(
    callParts(all)
      .toReversed()
      .map((part) => [part.toolCallId, part]),
  );
  const isFirst = (part: AssistantPart): boolean =>
    part.type !== "tool-call" || firsts.get(part.toolCallId) === part;
  const items = await Promise.all(
    earlier.map(async (message): Promise<readonly JsonValue[]> => {
      if (message.role === "user") {
        const contents = await Promise.all(message.content.map((part) => readUserPart(part, context)));
        return contents.length === 0 ? [] : [messageItem("user", contents.map(toInputContent))];
      }
      if (message.role !== "assistant") return [];
      const content = message.content.filter(isFirst);
      const parts = await Promise.all(content.map((part) => assistantItems(part, results, context)));
      return parts.flat();
    }),
  );
  return items.flat();
}

/** Converts a part of a user message. */
export async function readUserPart(
  part: Extract<LanguageModelV4Message, { role: "user" }>["content"][number],
  context: ReadContext,
): Promise<Content> {
  return part.type === "text" ? { type: "text", text: part.text } : readFile(part, context);
}

async function assistantItems(
  part: AssistantPart,
  results: ReadonlyMap<string, readonly Content[]>,
  context: ReadContext,
): Promise<readonly JsonValue[]> {
  switch (part.type) {
    case "text":
      return part.text === "" ? [] : [messageItem("assistant", [{ type: "output_text", text: part.text }])];
    case "file": {
      const content = await readFile(part, context);
      return [
        content.type === "text" ? messageItem("assistant", [outputText(content)]) : generatedImage(content),
      ];
    }
    case "tool-call":
      return callItems(part, results.get(part.toolCallId));
    // Added with its call, above.
    case "tool-result":
    // Models accept earlier reasoning only as the original encrypted item, which the AI SDK does not keep.
    case "reasoning":
    case "reasoning-file":
      return [];
    case "custom":
    default:
      if (part.type !== "custom" || !part.kind.startsWith("codex.")) warnOfPart(part, context);
      return [];
  }
}

/** Converts a tool call and its result, which the API accepts only together. */
export function callItems(
  { toolCallId, toolName, input }: Pick<LanguageModelV4ToolCallPart, "toolCallId" | "toolName" | "input">,
  output: readonly Content[] | undefined,
): JsonValue[] {
  const callId = toCallId(toolCallId);
  return [
    {
      type: "function_call",
      call_id: callId,
      name: toName(toolName),
      arguments: JSON.stringify(input ?? {}),
    },
    {
      type: "function_call_output",
      call_id: callId,
      // Without an output, Codex would insert "aborted", which is less specific.
      output: output === undefined ? "The call was not answered." : toOutputBody(output),
    },
  ];
}

function messageItem(role: "user" | "assistant", content: readonly JsonValue[]): JsonValue {
  return { type: "message", role, content: [...content] };
}

function outputText({ text }: { readonly text: string }): JsonValue {
  return { type: "output_text", text };
}

/** The only item that can hold an assistant's image, because assistant messages contain only text. */
function generatedImage({ dataUrl }: { readonly dataUrl: string }): JsonValue {
  return {
    type: "image_generation_call",
    status: "completed",
    result: dataUrl.slice(dataUrl.indexOf(",") + 1),
  };
}

/** Shortens ids of other providers that are too long. Shortened ids stay distinct. */
function toCallId(toolCallId: string): string {
  return toolCallId.length <= promptLimits.nameCharacters
    ? toolCallId
    : `call_${createHash("sha256").update(toolCallId).digest("hex").slice(0, 48)}`;
}

/** The API accepts only letters, digits, `_` and `-`. */
function toName(toolName: string): string {
  return toolName.replaceAll(/[^a-zA-Z0-9_-]/g, "_").slice(0, promptLimits.nameCharacters) || "tool";
}

/** Warns of results without a call, for example because messages were removed. */
function warnOfStrayResults(prompt: LanguageModelV4Prompt, { warn }: ReadContext): void {
  const called = new Set(callParts(prompt).map(({ toolCallId }) => toolCallId));
  for (const { toolCallId, toolName } of resultParts(prompt)) {
    const message = `The result of ${toolName} was left out of the history, because its call ${toolCallId} is missing.`;
    if (!called.has(toolCallId)) warn({ type: "other", message });
  }
}

function warnOfPart(part: AssistantPart, { warn }: ReadContext): void {
  const feature = part.type === "custom" ? `content of kind ${part.kind}` : `content of type ${part.type}`;
  warn({ type: "unsupported", feature, details: "It was left out of the history." });
}
