import type { ThreadItem } from "./items.ts";

/** The first event of every turn, also of a thread that was resumed. */
export type ThreadStartedEvent = {
  type: "thread.started";
  /** Give it to `resumeThread` to go on later. */
  thread_id: string;
};

export type TurnStartedEvent = {
  type: "turn.started";
};

/** Tokens. As in the old package these are the totals of the whole thread up to the end of the turn. */
export type Usage = {
  input_tokens: number;
  /** The part of the input that came from the prompt cache. */
  cached_input_tokens: number;
  /** The part of the input that was written to the prompt cache. */
  cache_write_input_tokens: number;
  output_tokens: number;
  /** The part of the output that was reasoning. */
  reasoning_output_tokens: number;
};

/** The turn ended well. */
export type TurnCompletedEvent = {
  type: "turn.completed";
  usage: Usage;
};

/** The turn ended in an error. A stream throws after it, as the old package's does. */
export type TurnFailedEvent = {
  type: "turn.failed";
  error: ThreadError;
};

export type ItemStartedEvent = {
  type: "item.started";
  item: ThreadItem;
};

export type ItemUpdatedEvent = {
  type: "item.updated";
  item: ThreadItem;
};

/** The item will not change any more. */
export type ItemCompletedEvent = {
  type: "item.completed";
  item: ThreadItem;
};

export type ThreadError = {
  message: string;
};

/** The model's endpoint failed. Codex may try again: only `turn.failed` ends the turn. */
export type ThreadErrorEvent = {
  type: "error";
  message: string;
};

/** What `runStreamed` yields. */
export type ThreadEvent =
  | ThreadStartedEvent
  | TurnStartedEvent
  | TurnCompletedEvent
  | TurnFailedEvent
  | ItemStartedEvent
  | ItemUpdatedEvent
  | ItemCompletedEvent
  | ThreadErrorEvent;
