import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider";
import type { v2 } from "codexkit";
import { PROVIDER_KEY } from "../items/metadata.ts";
import { toolView } from "../items/tool-view.ts";
import { digestOf } from "./digest.ts";
import { callDigest, digestOfPrompt, fileEntry, outputDigest } from "./entry.ts";
import { promptEntries, type PromptEntries } from "./prompt-entries.ts";
import { type Comparison, Transcript } from "./transcript.ts";

type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number];

/**
 * Compares a prompt with a stored thread that another process has used. Uses the stamps of the prompt's messages, which record
 * what the thread contained when each message was written, and the newest turn that Codex has stored.
 */
export function compareStored(
  call: {
    readonly prompt: { readonly messages: LanguageModelV4Prompt; readonly digests: PromptEntries };
    readonly instructions: string | undefined;
  },
  origin: { readonly threadId: string; readonly turnId: string | undefined },
  newestTurn: Pick<v2.Turn, "id" | "items"> | undefined,
): { readonly comparison: Comparison; readonly transcript: Transcript } {
  const prompt = call.prompt.messages;
  const { entries, messages } = call.prompt.digests;
  const newest = prompt.findLastIndex(({ role }) => role === "assistant");
  for (let index = newest; index >= 0; index -= 1) {
    const turnId = intactTurn(prompt, index, origin.threadId, call.instructions);
    if (turnId === undefined) continue;
    const length = messages.filter((message) => message <= index).length;
    const transcript = new Transcript(entries.slice(0, length), [{ turnId, length }]);
    if (index < newest) {
      return { comparison: { type: "changed", lastTurnId: turnId, common: length }, transcript };
    }
    if (newestTurn === undefined || newestTurn.id !== turnId) {
      return { comparison: { type: "behind", lastTurnId: turnId }, transcript };
    }
    if (hasAllItems(prompt, newestTurn)) return { comparison: { type: "same" }, transcript };
  }
  return {
    comparison: { type: "changed", lastTurnId: undefined, common: 0 },
    transcript: new Transcript(),
  };
}

/** Returns the turn that ended with an assistant message, if neither the message nor anything before it has changed. */
function intactTurn(
  prompt: LanguageModelV4Prompt,
  index: number,
  threadId: string,
  instructions: string | undefined,
): string | undefined {
  const message = prompt[index];
  if (message?.role !== "assistant") return undefined;
  const codex = message.content.map(metadataOf).find((metadata) => metadata["threadId"] === threadId);
  const { seen, turnId } = codex ?? {};
  if (typeof turnId !== "string" || turnOf(prompt, index + 1) === turnId) return undefined;
  const before = promptEntries(prompt.slice(0, index)).entries;
  if (seen !== digestOfPrompt(instructions, before) || !message.content.every(isIntact)) return undefined;
  return turnId;
}

/** Returns the turn of the next assistant message. A turn with several steps can only be copied as a whole. */
function turnOf(prompt: LanguageModelV4Prompt, from: number): unknown {
  const next = prompt.slice(from).find(({ role }) => role === "assistant");
  return next?.role === "assistant"
    ? next.content.map((part) => metadataOf(part)["turnId"]).find(Boolean)
    : undefined;
}

function isIntact(part: AssistantPart): boolean {
  const { digest, turnId } = metadataOf(part);
  switch (part.type) {
    case "text":
      return part.text === "" || digest === digestOf(part.text);
    case "file":
      return digest === fileEntry("assistant", part.data).digest;
    case "tool-call":
      return part.providerExecuted === true
        ? digest === callDigest(part.toolName, part.input)
        : typeof turnId === "string";
    case "tool-result":
      return digest === outputDigest(part.output);
    default:
      return true;
  }
}

/** Whether no visible item of the turn is missing from the prompt. */
function hasAllItems(prompt: LanguageModelV4Prompt, { items }: Pick<v2.Turn, "items">): boolean {
  const present = new Set(
    prompt.flatMap((message) =>
      message.role === "assistant"
        ? message.content.flatMap((part) => (isEmpty(part) ? [] : [metadataOf(part)["itemId"]]))
        : [],
    ),
  );
  return items.every((item) => !isVisible(item) || present.has(item.id));
}

function isEmpty(part: AssistantPart): boolean {
  return (part.type === "text" || part.type === "reasoning") && part.text === "";
}

function isVisible(item: v2.ThreadItem): boolean {
  if (item.type === "agentMessage" || item.type === "plan") return item.text !== "";
  // Client tools are excluded, because the messages contain their calls and results.
  return item.type !== "dynamicToolCall" && toolView(item) !== undefined;
}

function metadataOf({ providerOptions }: AssistantPart): Readonly<Record<string, unknown>> {
  return providerOptions?.[PROVIDER_KEY] ?? {};
}
