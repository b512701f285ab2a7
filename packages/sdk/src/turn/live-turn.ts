import type { v2 } from "@codexkit/protocol";
import type { CodexError } from "../errors.ts";
import { EventLog } from "../events/event-log.ts";
import type { CodexEvent, TurnEndEvent } from "../events/event.ts";
import type { ParsedNotification } from "../events/parse-notification.ts";
import { UsageMeter } from "./usage-meter.ts";
import { type TokenUsage, TurnFailedError, type TurnResult, withLoginHint } from "../events/turn-result.ts";
import { UnfinishedText } from "./unfinished-text.ts";

/**
 * The state of one turn as its events come in, whoever started it. It ends exactly once; what comes after is late and
 * changes nothing here.
 */
export class LiveTurn {
  readonly threadId: string;
  readonly turnId: string;
  readonly events = new EventLog({ history: true });
  /** Settles with the event that ended the turn. Never rejects. */
  readonly ended: Promise<TurnEndEvent>;
  /** Settles when the server has said that the turn began, or that it ended. Never rejects. */
  readonly started: Promise<void>;
  /**
   * The id that the server stops the turn by. A review has two: its items and its end name the one that `review/start`
   * gave, its start and an interrupt another.
   */
  interruptId: string;
  /** When the server last said something of this turn. */
  lastHeardAt = Date.now();
  /** What ended it, once it has ended. */
  end: TurnEndEvent | undefined;
  readonly #settle: (end: TurnEndEvent) => void;
  readonly #begin: () => void;
  readonly #items = new Map<string, v2.ThreadItem>();
  readonly #open = new Set<string>();
  readonly #unfinished = new UnfinishedText();
  readonly #usage: UsageMeter;
  #isReview = false;
  #isStarted = false;
  #diff = "";
  #plan: readonly v2.TurnPlanStep[] = [];
  #durationMs: number | null = null;

  constructor(threadId: string, turnId: string, threadTotal: TokenUsage | undefined) {
    this.threadId = threadId;
    this.turnId = turnId;
    this.interruptId = turnId;
    this.#usage = new UsageMeter(threadTotal);
    const { promise, resolve } = Promise.withResolvers<TurnEndEvent>();
    this.ended = promise;
    this.#settle = resolve;
    const begun = Promise.withResolvers<void>();
    this.started = begun.promise;
    this.#begin = begun.resolve;
  }

  /** A turn that was taken out of a queue before the server began it. Its id is empty. */
  static interruptedBeforeStart(threadId: string): LiveTurn {
    const turn = new LiveTurn(threadId, "", undefined);
    const event = {
      type: "turn.interrupted",
      threadId,
      turnId: "",
      result: turn.result("interrupted"),
    } as const;
    turn.events.push(event);
    turn.#close(event);
    return turn;
  }

  /** The item of this id, as it is known now. */
  item(itemId: string): v2.ThreadItem | undefined {
    return this.#items.get(itemId);
  }

  /** All items so far, as they are known now. */
  get items(): readonly v2.ThreadItem[] {
    return [...this.#items.values()];
  }

  /** Whether the server has said that the turn began. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Whether this is a review whose start, under its other id, is still to come. */
  get isReviewToStart(): boolean {
    return this.#isReview && !this.#isStarted;
  }

  /** Whether this is the first message of a person in the turn. */
  beganWith(itemId: string): boolean {
    const first = [...this.#items.values()].find(({ type }) => type === "userMessage");
    return first?.id === itemId;
  }

  /** Takes over what the turn did before this client joined it. What was heard since is newer and stays. */
  join(earlier: readonly v2.ThreadItem[]): void {
    if (this.end) return;
    const heard = new Map(this.#items);
    this.#items.clear();
    for (const item of earlier) {
      this.#items.set(item.id, item);
      if (!heard.has(item.id) && "status" in item && item.status === "inProgress") this.#open.add(item.id);
    }
    for (const [itemId, item] of heard) this.#items.set(itemId, item);
    this.#isStarted = true;
    this.#begin();
  }

  /** Takes what the server said of this turn; gives the event that it became. A turn that ended gives its end again. */
  take(reading: ParsedNotification): CodexEvent {
    if (this.end) return this.end;
    this.lastHeardAt = Date.now();
    const event = this.#absorb(reading);
    this.events.push(event);
    if (
      event.type === "turn.completed" ||
      event.type === "turn.failed" ||
      event.type === "turn.interrupted"
    ) {
      this.#close(event);
    }
    return event;
  }

  /** Shows an event that did not come as a notification: a request of the server, a warning of ours. */
  show(event: CodexEvent): void {
    this.events.push(event);
  }

  /** Ends the turn without a word from the server: it crashed, or it forgot to say so. */
  fail(error: CodexError): TurnEndEvent {
    if (this.end) return this.end;
    const result = this.result("failed");
    const failure = new TurnFailedError(error.code, error.message, result, { cause: error });
    const event = {
      type: "turn.failed",
      threadId: this.threadId,
      turnId: this.turnId,
      error: failure,
      result,
    } as const;
    this.events.push(event);
    this.#close(event);
    return event;
  }

  /** What the turn has done so far. */
  result(status: TurnResult["status"]): TurnResult {
    const items = [...this.#items.values()].map((item) => this.#unfinished.complete(item));
    return {
      threadId: this.threadId,
      turnId: this.turnId,
      status,
      finalResponse: finalMessage(items),
      items,
      openItems: [...this.#open],
      usage: this.#usage.turn,
      diff: this.#diff,
      plan: this.#plan,
      durationMs: this.#durationMs,
      structured: undefined,
    };
  }

  #absorb(reading: ParsedNotification): CodexEvent {
    switch (reading.type) {
      case "turn.started":
        this.#isStarted = true;
        this.#begin();
        return reading;
      case "item.started":
        this.#isReview ||= reading.item.type === "enteredReviewMode";
        this.#items.set(reading.item.id, reading.item);
        this.#open.add(reading.item.id);
        return reading;
      case "item.completed":
        this.#complete(reading.item);
        return reading;
      case "item.delta":
        // What an item said when it completed is the whole of it.
        if (this.#open.has(reading.itemId) || !this.#items.has(reading.itemId)) this.#unfinished.add(reading);
        return reading;
      case "plan.updated":
        this.#plan = reading.plan;
        return reading;
      case "diff.updated":
        this.#diff = reading.diff;
        return reading;
      case "usage": {
        const { threadId, turnId, tokenUsage } = reading.params;
        this.#usage.update(tokenUsage);
        return {
          type: "usage.updated",
          threadId,
          turnId,
          usage: this.#usage.turn,
          total: tokenUsage.total,
          contextWindow: tokenUsage.modelContextWindow,
          raw: reading.raw,
        };
      }
      case "turn-end":
        return this.#endEvent(reading.params.turn, reading.raw);
      case "thread.started":
      case "warning":
      case "notice":
      case "unknown":
        return reading;
    }
  }

  #complete(item: v2.ThreadItem): void {
    this.#items.set(item.id, item);
    this.#open.delete(item.id);
    this.#unfinished.forget(item.id);
  }

  #endEvent(turn: v2.Turn, raw: TurnEndEvent["raw"] & object): TurnEndEvent {
    this.#durationMs = turn.durationMs ?? null;
    // The end repeats the final message; it is news only when its item, or the item's end, was missed.
    for (const item of turn.items) {
      const missedEnd = turn.status === "completed" && this.#open.has(item.id);
      if (missedEnd || !this.#items.has(item.id)) this.#complete(item);
    }
    const place = { threadId: this.threadId, turnId: this.turnId, raw };
    if (turn.status === "interrupted") {
      return { type: "turn.interrupted", ...place, result: this.result("interrupted") };
    }
    if (turn.status === "completed") {
      return { type: "turn.completed", ...place, result: this.result("completed") };
    }
    const result = this.result("failed");
    const said = turn.error?.message;
    const message =
      typeof said === "string"
        ? withLoginHint(said, turn.error)
        : `The turn ended as ${turn.status}, without an error.`;
    const error = new TurnFailedError(
      "turn_failed",
      message,
      result,
      turn.error ? { turnError: turn.error } : undefined,
    );
    return { type: "turn.failed", ...place, error, result };
  }

  #close(event: TurnEndEvent): void {
    this.end = event;
    this.events.end();
    this.#begin();
    this.#settle(event);
  }
}

/** The answer, not the commentary before it: the last message marked as final, or the last message. */
function finalMessage(items: readonly v2.ThreadItem[]): string {
  const messages = items.filter((item) => item.type === "agentMessage");
  const final = messages.findLast(({ phase }) => phase === "final_answer") ?? messages.at(-1);
  return final?.text ?? "";
}
