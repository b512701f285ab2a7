import type { LanguageModelV4FilePart, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import { digestOf, digestOfBytes } from "./digest.ts";

/**
 * One part of a conversation, reduced to a digest. Excludes system messages, which are the thread's instructions, and reasoning,
 * which prompts don't send back to a model.
 */
export type Entry = MessageEntry | CallEntry;

/** A text or a file from the user or the assistant. */
export interface MessageEntry {
  readonly kind: "user" | "assistant";
  readonly digest: string;
}

/** A tool call with its result, which may be in a later message. */
export interface CallEntry {
  readonly kind: "call";
  readonly callId: string;
  /**
   * Digest of the name and the input. Undefined for a call that the client has not run yet: the AI SDK passes the input through
   * the tool's schema, which may add defaults or transform it, so the first prompt with the call determines the digest.
   */
  readonly digest: string | undefined;
  /** Undefined while there is no result. */
  readonly result: string | undefined;
  /** Whether the only result is the AI SDK's note that a person denied the call. Threads don't contain it. */
  readonly isDenied?: boolean;
}

export function textEntry(kind: MessageEntry["kind"], text: string): MessageEntry {
  return { kind, digest: digestOf(text) };
}

export function fileEntry(kind: MessageEntry["kind"], data: LanguageModelV4FilePart["data"]): MessageEntry {
  return { kind, digest: fileDigest(data) };
}

export function callDigest(toolName: string, input: unknown): string {
  return digestOf([toolName, input ?? {}]);
}

/** Returns a digest of a result as the model receives it. JSON text and the equal JSON value have the same digest. */
export function outputDigest(output: LanguageModelV4ToolResultOutput): string {
  switch (output?.type) {
    case "text":
    case "error-text":
      return resultDigest(output.value);
    case "json":
    case "error-json":
      return resultDigest(output.value);
    case "content":
      return digestOf(output.value.map((part) => ("data" in part ? fileDigest(part.data) : part)));
    case "execution-denied":
      return digestOf(["denied", output.reason ?? ""]);
    default:
      return digestOf(output);
  }
}

export function resultDigest(value: unknown): string {
  return digestOf(typeof value === "string" ? parsedOr(value) : value);
}

/** Returns a digest of a step's complete input. */
export function digestOfPrompt(instructions: string | undefined, entries: readonly Entry[]): string {
  return digestOf([
    instructions ?? "",
    ...entries.map((entry) =>
      entry.kind === "call" ? [entry.callId, entry.digest, entry.result] : [entry.kind, entry.digest],
    ),
  ]);
}

function fileDigest(data: unknown): string {
  if (typeof data === "string" || data instanceof Uint8Array) return digestOfBytes(data);
  if (typeof data === "object" && data !== null && "type" in data) {
    if (data.type === "data" && "data" in data) return fileDigest(data.data);
    if (data.type === "url" && "url" in data) return digestOf(String(data.url));
  }
  return digestOf(data);
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
