import type { ThreadItem } from "./items.ts";

/** The first event of every turn, including those of resumed threads. */
export type ThreadStartedEvent = {
  type: "thread.started";
  /** Pass it to `resumeThread` to continue later. */
  thread_id: string;
};

export type TurnStartedEvent = {
  type: "turn.started";
};

/** Token usage. As in the original, these are the totals of the thread up to the end of the turn. */
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

/** The turn succeeded. */
export type TurnCompletedEvent = {
  type: "turn.completed";
  usage: Usage;
};

/** The turn failed. As in the original, a stream throws after it. */
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

/** The model's endpoint failed. Codex may retry: only `turn.failed` ends the turn. */
export type ThreadErrorEvent = {
  type: "error";
  message: string;
};

/** The events of `runStreamed`. */
export type ThreadEvent =
  | ThreadStartedEvent
  | TurnStartedEvent
  | TurnCompletedEvent
  | TurnFailedEvent
  | ItemStartedEvent
  | ItemUpdatedEvent
  | ItemCompletedEvent
  | ThreadErrorEvent;
