import type { ModelReply, ModelRequest } from "./model-script.ts";

/** One model API: how its requests are read, and how its replies are written. */
export interface ModelApi {
  /** The reading of a request to this path; undefined if it is not a request for a reply. */
  parse(path: string, body: unknown): ParsedCall | undefined;
  /** The answer to any other request that agents make, such as counting tokens; undefined for 404. */
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
