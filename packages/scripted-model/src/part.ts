import type { Gate } from "./gate.ts";
import type { Json, JsonObject } from "./json.ts";

/** Whether a message is a progress report or the final answer. */
export type MessagePhase = "commentary" | "final_answer";

/** A condition that a reply can wait for. */
export type Awaitable = Promise<unknown> | AbortSignal | Gate;

/** Holds the stream until a condition is met. */
export interface WaitPart {
  readonly kind: "wait";
  readonly until: Awaitable;
}

/** Holds the stream for a time. */
export interface PausePart {
  readonly kind: "pause";
  readonly ms: number;
}

/** Destroys the connection. */
export interface CutPart {
  readonly kind: "cut";
}

/** Ends the response with `response.failed`. */
export interface FailedPart {
  readonly kind: "failed";
  readonly code: string;
  readonly message: string;
}

/** Ends the response with `response.incomplete`. */
export interface IncompletePart {
  readonly kind: "incomplete";
  readonly reason: string;
}

/** A delta of a message or of reasoning, or an event between two deltas. */
export type Piece = string | WaitPart | PausePart | CutPart | FailedPart;

/** An assistant message. */
export interface SayPart {
  readonly kind: "say";
  readonly pieces: readonly Piece[];
  readonly phase?: MessagePhase;
  readonly id?: string;
  /** False sends only the completed item, without deltas. */
  readonly stream: boolean;
}

/** A reasoning item with its summary. */
export interface ThinkPart {
  readonly kind: "think";
  readonly pieces: readonly Piece[];
  /** The raw reasoning text. */
  readonly raw?: string;
  readonly id?: string;
}

/**
 * How a call is made: `"auto"` writes code for a model that writes code and a direct call otherwise; `"direct"` always makes a
 * direct call, which Codex 0.166 accepts from both kinds of model.
 */
export type CallVia = "auto" | "direct";

/** A tool call with JSON arguments. */
export interface CallPart {
  readonly kind: "call";
  readonly tool: string;
  readonly namespace?: string;
  readonly args: JsonObject;
  readonly callId?: string;
  readonly via: CallVia;
}

/** A patch to files. */
export interface PatchPart {
  readonly kind: "patch";
  readonly patch: string;
  readonly callId?: string;
  readonly via: CallVia;
}

/** A cell of JavaScript for a model that writes code. */
export interface CodePart {
  readonly kind: "code";
  readonly source: string;
  readonly callId?: string;
}

/** Sets the token counts of this response. */
export interface UsagePart {
  readonly kind: "usage";
  readonly usage: ScriptedUsage;
}

/** Token counts; `total` is `input` + `output`. */
export interface ScriptedUsage {
  readonly input: number;
  readonly cached?: number;
  readonly output: number;
  readonly reasoning?: number;
}

/** Additional HTTP response headers, such as rate limits. */
export interface HeadersPart {
  readonly kind: "headers";
  readonly headers: Readonly<Record<string, string>>;
}

/** Responds with an HTTP failure instead of a stream. */
export interface HttpPart {
  readonly kind: "http";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** An output item that is sent unchanged. */
export interface ItemPart {
  readonly kind: "item";
  readonly item: JsonObject;
}

/** An SSE event that is sent unchanged. */
export interface EventPart {
  readonly kind: "event";
  readonly event: JsonObject & { readonly type: string };
}

/** One step of a reply. */
export type Part =
  | SayPart
  | ThinkPart
  | CallPart
  | PatchPart
  | CodePart
  | UsagePart
  | HeadersPart
  | WaitPart
  | PausePart
  | CutPart
  | FailedPart
  | IncompletePart
  | HttpPart
  | ItemPart
  | EventPart;

/** The reply to one request. A string is a message. Adjacent calls are parallel. */
export type Reply = string | Part | readonly Part[];
