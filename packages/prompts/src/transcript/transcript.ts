import type { CodexEvent, v2 } from "codexkit";
import { toNativeCall } from "./native-tools.ts";

/** Canonical types of transcript entries. */
export type TranscriptEntryType =
  | "user_message"
  | "assistant_message"
  | "tool_use"
  | "tool_result"
  | "thinking"
  | "system_event"
  | "token_usage"
  | "error"
  | "unknown";

/** One entry of a transcript. */
export interface TranscriptEntry {
  readonly prompt: string;
  readonly evaluationId: string;
  readonly adapter: "codex";
  readonly type: TranscriptEntryType;
  /** `main`, or `subagent:` followed by the thread's id. */
  readonly source: string;
  /** Number of the entry within its source, from 1 and without gaps. */
  readonly sequence: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly detail: Readonly<Record<string, unknown>>;
}

type EntryContent = Pick<TranscriptEntry, "type" | "detail">;

export interface TranscriptOptions {
  readonly prompt: string;
  readonly evaluationId: string;
  readonly sinks: readonly ((entry: TranscriptEntry) => void)[];
  /** Receives sink failures, which never end an evaluation. */
  readonly onError: (error: unknown) => void;
  readonly now?: () => number;
}

/** Writes an evaluation's events as canonical entries. Omits deltas, because the complete item follows them. */
export class TranscriptWriter {
  readonly #options: TranscriptOptions;
  readonly #sequences = new Map<string, number>();
  #mainThread: string | undefined;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  start(threadId: string, detail: Readonly<Record<string, unknown>>): void {
    this.#mainThread = threadId;
    this.#write("main", { type: "system_event", detail: { event: "start", threadId, ...detail } });
  }

  stop(detail: Readonly<Record<string, unknown>>): void {
    this.#write("main", { type: "system_event", detail: { event: "stop", ...detail } });
  }

  error(detail: Readonly<Record<string, unknown>>): void {
    this.#write("main", { type: "error", detail });
  }

  record(event: CodexEvent): void {
    const source = event.threadId === this.#mainThread ? "main" : `subagent:${event.threadId ?? "none"}`;
    for (const content of toEntries(event)) this.#write(source, content);
  }

  #write(source: string, content: EntryContent): void {
    const { prompt, evaluationId, sinks, onError, now = Date.now } = this.#options;
    const sequence = (this.#sequences.get(source) ?? 0) + 1;
    this.#sequences.set(source, sequence);
    const entry: TranscriptEntry = {
      prompt,
      evaluationId,
      adapter: "codex",
      source,
      sequence,
      at: now(),
      ...content,
    };
    for (const sink of sinks) {
      try {
        // An async sink's unhandled rejection would end the process.
        void Promise.resolve(sink(entry)).catch(onError);
      } catch (error) {
        onError(error);
      }
    }
  }
}

function toEntries(event: CodexEvent): readonly EntryContent[] {
  switch (event.type) {
    case "item.started":
      return startedEntries(event.item);
    case "item.completed":
      return completedEntries(event.item);
    case "usage.updated":
      return [{ type: "token_usage", detail: { turn: event.usage, thread: event.total } }];
    case "turn.failed":
      return [{ type: "error", detail: { code: event.error.code, message: event.error.message } }];
    case "warning":
      return [
        { type: "system_event", detail: { event: "warning", kind: event.kind, message: event.message } },
      ];
    case "turn.started":
    case "turn.completed":
    case "turn.interrupted":
    case "approval.requested":
    case "approval.resolved":
    case "question.requested":
    case "question.resolved":
      return [{ type: "system_event", detail: { event: event.type } }];
    case "unknown":
      return [{ type: "unknown", detail: { method: event.raw.method, params: event.raw.params } }];
    default:
      return [];
  }
}

/** Writes a tool call's use when the call starts, so that it always precedes the result. */
function startedEntries(item: v2.ThreadItem): readonly EntryContent[] {
  if (item.type === "dynamicToolCall") {
    return [{ type: "tool_use", detail: { callId: item.id, tool: item.tool, input: item.arguments } }];
  }
  const call = toNativeCall(item);
  return call ? [{ type: "tool_use", detail: { callId: item.id, tool: call.tool, input: call.input } }] : [];
}

function completedEntries(item: v2.ThreadItem): readonly EntryContent[] {
  switch (item.type) {
    case "userMessage":
      return [{ type: "user_message", detail: { content: item.content } }];
    case "agentMessage":
      return [{ type: "assistant_message", detail: { text: item.text, phase: item.phase } }];
    case "reasoning":
      return [{ type: "thinking", detail: { summary: item.summary } }];
    case "dynamicToolCall":
      return [
        {
          type: "tool_result",
          detail: { callId: item.id, tool: item.tool, success: item.success, content: item.contentItems },
        },
      ];
    default: {
      const call = toNativeCall(item);
      if (!call) return [{ type: "unknown", detail: { item } }];
      const { tool, success, text } = call;
      return [{ type: "tool_result", detail: { callId: item.id, tool, success, text } }];
    }
  }
}
