import type { v2 } from "@codexkit/protocol";
import type { CodexError } from "../errors.ts";
import { EventLog } from "../events/event-log.ts";
import { type CodexEvent, isTurnEnd, type TurnEndEvent } from "../events/event.ts";
import type { ParsedNotification } from "../events/parse-notification.ts";
import {
  findFinalResponse,
  type TokenUsage,
  TurnFailedError,
  type TurnResult,
} from "../events/turn-result.ts";
import { toEvent, type TurnState } from "./to-event.ts";
import { UnfinishedText } from "./unfinished-text.ts";
import { UsageMeter } from "./usage-meter.ts";

/**
 * A turn that this client tracks, no matter which client started it. It ends exactly once; later notifications don't change
 * it.
 */
export class LiveTurn implements TurnState {
  readonly threadId: string;
  readonly turnId: string;
  readonly events = new EventLog({ history: true });
  /** Resolves to the event that ended the turn. Never rejects. */
  readonly ended: Promise<TurnEndEvent>;
  /** Resolves when the server has reported the start or the end of the turn. Never rejects. */
  readonly started: Promise<void>;
  /**
   * The ID to interrupt the turn by. A review has two IDs: its items and its end carry the one from `review/start`, while
   * its start and an interrupt use another.
   */
  interruptId: string;
  /** When the last notification for this turn arrived. */
  lastNotificationAt = Date.now();
  /** The event that ended the turn, once it has ended. */
  end: TurnEndEvent | undefined;
  readonly #resolveEnded: (end: TurnEndEvent) => void;
  readonly #resolveStarted: () => void;
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
    const ended = Promise.withResolvers<TurnEndEvent>();
    this.ended = ended.promise;
    this.#resolveEnded = ended.resolve;
    const started = Promise.withResolvers<void>();
    this.started = started.promise;
    this.#resolveStarted = started.resolve;
  }

  /** A turn that was removed from a queue before the server started it. Its ID is empty. */
  static interruptedBeforeStart(threadId: string): LiveTurn {
    const turn = new LiveTurn(threadId, "", undefined);
    const result = turn.result("interrupted");
    turn.#close({ type: "turn.interrupted", threadId, turnId: "", result });
    return turn;
  }

  /** The latest state of an item. */
  item(itemId: string): v2.ThreadItem | undefined {
    return this.#items.get(itemId);
  }

  /** The latest state of all items so far. */
  get items(): readonly v2.ThreadItem[] {
    return [...this.#items.values()];
  }

  /** Tokens of the turn so far. */
  get usage(): TokenUsage {
    return this.#usage.turn;
  }

  /** Whether the server has reported the start of the turn. */
  get isStarted(): boolean {
    return this.#isStarted;
  }

  /** Whether this is a review whose start, which carries its other ID, has not been reported yet. */
  get isReviewToStart(): boolean {
    return this.#isReview && !this.#isStarted;
  }

  /** Whether an item is the first user message of the turn. */
  startedWith(itemId: string): boolean {
    const first = [...this.#items.values()].find(({ type }) => type === "userMessage");
    return first?.id === itemId;
  }

  /** Adds what the turn did before this client joined it. Items received since then are newer and take precedence. */
  join(earlier: readonly v2.ThreadItem[]): void {
    if (this.end) return;
    const received = new Map(this.#items);
    this.#items.clear();
    for (const item of earlier) {
      this.#items.set(item.id, item);
      if (!received.has(item.id) && "status" in item && item.status === "inProgress") this.#open.add(item.id);
    }
    for (const [itemId, item] of received) this.#items.set(itemId, item);
    this.#isStarted = true;
    this.#resolveStarted();
  }

  /** Applies a notification and returns its event. After the end it returns the end event and changes nothing. */
  apply(notification: ParsedNotification): CodexEvent {
    if (this.end) return this.end;
    this.lastNotificationAt = Date.now();
    this.#update(notification);
    const event = toEvent(notification, this);
    if (isTurnEnd(event)) this.#close(event);
    else this.events.push(event);
    return event;
  }

  /** Publishes an event that is not a notification: a server request, or a warning of the SDK. */
  publish(event: CodexEvent): void {
    this.events.push(event);
  }

  /** Ends the turn without a notification, because the server crashed or lost track of the turn. */
  fail(error: CodexError): TurnEndEvent {
    if (this.end) return this.end;
    const { threadId, turnId } = this;
    const result = this.result("failed");
    const failure = new TurnFailedError(error.code, error.message, result, { cause: error });
    const event = { type: "turn.failed", threadId, turnId, error: failure, result } as const;
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
      finalResponse: findFinalResponse(items),
      items,
      openItems: [...this.#open],
      usage: this.#usage.turn,
      diff: this.#diff,
      plan: this.#plan,
      durationMs: this.#durationMs,
      structured: undefined,
    };
  }

  #update(notification: ParsedNotification): void {
    switch (notification.type) {
      case "turn.started":
        this.#isStarted = true;
        this.#resolveStarted();
        return;
      case "item.started":
        this.#isReview ||= notification.item.type === "enteredReviewMode";
        this.#items.set(notification.item.id, notification.item);
        this.#open.add(notification.item.id);
        return;
      case "item.completed":
        this.#complete(notification.item);
        return;
      case "item.delta":
        // A completed item already contains its whole text.
        if (this.#open.has(notification.itemId) || !this.#items.has(notification.itemId)) {
          this.#unfinished.add(notification);
        }
        return;
      case "plan.updated":
        this.#plan = notification.plan;
        return;
      case "diff.updated":
        this.#diff = notification.diff;
        return;
      case "usage":
        this.#usage.update(notification.params.tokenUsage);
        return;
      case "turn-end":
        this.#addLastItems(notification.params.turn);
        return;
      default:
    }
  }

  #complete(item: v2.ThreadItem): void {
    this.#items.set(item.id, item);
    this.#open.delete(item.id);
    this.#unfinished.forget(item.id);
  }

  #addLastItems(turn: v2.Turn): void {
    this.#durationMs = turn.durationMs ?? null;
    // The end repeats the final message. It matters only if its item, or the completion of the item, was missed.
    for (const item of turn.items) {
      const missedEnd = turn.status === "completed" && this.#open.has(item.id);
      if (missedEnd || !this.#items.has(item.id)) this.#complete(item);
    }
  }

  #close(event: TurnEndEvent): void {
    this.events.push(event);
    this.end = event;
    this.events.end();
    this.#resolveStarted();
    this.#resolveEnded(event);
  }
}
