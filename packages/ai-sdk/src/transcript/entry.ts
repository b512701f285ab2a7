import type { LanguageModelV4FilePart, LanguageModelV4ToolResultOutput } from "@ai-sdk/provider";
import { digestOf, digestOfBytes } from "./digest.ts";

/**
 * One thing that a thread has seen or said, reduced to a digest. System messages are not among them (they are the thread's
 * instructions), nor is reasoning, which no prompt gives back to a model.
 */
export type Entry = MessageEntry | CallEntry;

/** A text or a file, of the user or the assistant. */
export interface MessageEntry {
  readonly kind: "user" | "assistant";
  readonly digest: string;
}

/** A tool call, with its result wherever in the prompt that stands. */
export interface CallEntry {
  readonly kind: "call";
  readonly callId: string;
  /**
   * Of its name and input. Undefined for a call that the client has yet to run: the AI SDK passes the input through the
   * tool's schema, which may add defaults or transform it, so that the first prompt that has the call decides.
   */
  readonly digest: string | undefined;
  /** Undefined while there is no result. */
  readonly result: string | undefined;
  /** Whether the only result is the AI SDK's own note that a person denied the call, which no thread holds. */
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

/** Digest of what the model is shown as the result: a JSON text and the JSON value read the same. */
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

/** Everything that a step was given, as one digest. */
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
