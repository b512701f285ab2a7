import type { Gate } from "./gate.ts";
import type { Json, JsonObject } from "./json.ts";

/** Whether Codex shows a message as work in progress or as the answer. */
export type MessagePhase = "commentary" | "final_answer";

/** What a reply can wait for. */
export type Awaitable = Promise<unknown> | AbortSignal | Gate;

/** A stop in the stream until something happens. */
export interface WaitPart {
  readonly kind: "wait";
  readonly until: Awaitable;
}

/** A stop in the stream for a time. */
export interface PausePart {
  readonly kind: "pause";
  readonly ms: number;
}

/** The connection is destroyed here. */
export interface CutPart {
  readonly kind: "cut";
}

/** The response ends here with `response.failed`. */
export interface FailedPart {
  readonly kind: "failed";
  readonly code: string;
  readonly message: string;
}

/** The response ends here with `response.incomplete`. */
export interface IncompletePart {
  readonly kind: "incomplete";
  readonly reason: string;
}

/** One delta of a message or of reasoning, or something that happens between two deltas. */
export type Piece = string | WaitPart | PausePart | CutPart | FailedPart;

/** An assistant message. */
export interface SayPart {
  readonly kind: "say";
  readonly pieces: readonly Piece[];
  readonly phase?: MessagePhase;
  readonly id?: string;
  /** False sends only the finished item, without deltas. */
  readonly stream: boolean;
}

/** A reasoning item with its summary. */
export interface ThinkPart {
  readonly kind: "think";
  readonly pieces: readonly Piece[];
  /** The raw reasoning text, where a model shows it. */
  readonly raw?: string;
  readonly id?: string;
}

/**
 * How a call reaches Codex: `"auto"` writes code for a model that writes code and a call for one that calls;
 * `"direct"` always makes the call itself (Codex 0.166 accepts it on both kinds of model).
 */
export type CallVia = "auto" | "direct";

/** A call of a tool with JSON arguments. */
export interface CallPart {
  readonly kind: "call";
  readonly tool: string;
  readonly namespace?: string;
  readonly args: JsonObject;
  readonly callId?: string;
  readonly via: CallVia;
}

/** A patch of files. */
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

/** The token counts of this response. */
export interface UsagePart {
  readonly kind: "usage";
  readonly usage: TokenUsage;
}

/** Token counts; `total` is `input` + `output`. */
export interface TokenUsage {
  readonly input: number;
  readonly cached?: number;
  readonly output: number;
  readonly reasoning?: number;
}

/** Extra headers on the HTTP answer, e.g. rate limits. */
export interface HeadersPart {
  readonly kind: "headers";
  readonly headers: Readonly<Record<string, string>>;
}

/** The request is answered with an HTTP failure instead of a stream. */
export interface HttpPart {
  readonly kind: "http";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

/** Any output item, sent as it is. */
export interface ItemPart {
  readonly kind: "item";
  readonly item: JsonObject;
}

/** Any SSE event, sent as it is. */
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

/** What the model answers to one request. A string is a message. Calls side by side are parallel calls. */
export type Reply = string | Part | readonly Part[];
