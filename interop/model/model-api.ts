import type { ModelReply, ModelRequest } from "./model-script.ts";

/** A model API: parses its requests and writes its replies. */
export interface ModelApi {
  /** Parses a request to this path. Returns undefined if it does not ask for a model reply. */
  parse(path: string, body: unknown): ParsedCall | undefined;
  /** Answers any other request that agents make, such as counting tokens. Undefined means 404. */
  answer(method: string, path: string): unknown;
}

export interface ParsedCall {
  readonly request: ModelRequest;
  /** The reply as JSON values: one per server-sent event, or the single body of a reply that is not streamed. */
  readonly write: (reply: ModelReply) => readonly SentEvent[];
  readonly streams: boolean;
}

export interface SentEvent {
  /** The event's name, for APIs that name them. */
  readonly name?: string;
  readonly data: unknown;
}

export function stringOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

export function listOf(value: unknown): readonly Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];
}

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
