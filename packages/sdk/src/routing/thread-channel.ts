import type { v2 } from "@codexkit/protocol";
import { BoundedMap, BoundedSet } from "@codexkit/rpc/async";
import { CodexError } from "../errors.ts";
import { EventLog } from "../events/event-log.ts";
import type { CodexEvent, ItemStartedEvent } from "../events/event.ts";
import type { ParsedNotification } from "../events/parse-notification.ts";
import type { TokenUsage } from "../events/turn-result.ts";
import { LiveTurn } from "../turn/live-turn.ts";
import { toEvent, toUntrackedState } from "../turn/to-event.ts";

/** Only these start tracking an unknown turn. Any other notification may be a late one for an ended turn. */
const STARTS_TURN: ReadonlySet<ParsedNotification["type"]> = new Set([
  "turn.started",
  "item.started",
  "item.delta",
  "plan.updated",
  "diff.updated",
]);

/** Notifications after which queued input does not run, with what the caller can do. */
const QUEUE_ENDS: Readonly<Record<string, string>> = {
  "thread/archived": "archived. Its queue is kept; thread.queue lists it once the thread is unarchived.",
  "thread/deleted": "deleted, with its queue.",
};

const CHANNEL_LIMITS = {
  /** Ended turns kept for a pending call that may have started them. Turns of other clients may be among them. */
  unclaimedTurns: 32,
  /** IDs of ended turns. A background command may report many turns after its own. */
  endedTurns: 4096,
} as const;

/** Recently ended turns. Late notifications for them are recognised and don't start a new turn. */
export type EndedTurns = Set<string>;

export function createEndedTurns(): EndedTurns {
  return new BoundedSet<string>(CHANNEL_LIMITS.endedTurns);
}

export interface ChannelOptions {
  /** Receives every event of the thread, after the readers of the thread. */
  readonly onEvent?: (event: CodexEvent) => void;
  /** Ended turns, if channels share them. */
  readonly ended?: EndedTurns;
}

/** A call that starts a turn, from sending it to its response. */
export interface StartingTurn {
  /** Returns the turn that the response names. */
  claim(turnId: string): LiveTurn;
  /** Ends the wait, whether or not there was a response. */
  done(): void;
}

/** A turn that has not started yet. */
export interface AwaitedTurn {
  /** Rejects if the connection is lost or the thread is closed. */
  readonly turn: Promise<LiveTurn>;
  stop(): void;
}

/**
 * State of the server's queue for this thread. `changed`: it may hold input. `held`: it held input when last listed, which
 * the server may start at any moment.
 */
export type QueueState = "empty" | "changed" | "held";

type Waiter = Pick<PromiseWithResolvers<LiveTurn>, "resolve" | "reject">;

/**
 * Receives everything about one thread: its turns, of this and other clients, and the thread's stream of events. A turn is
 * tracked from the first message that names it, which is its first notification or the response to the call that started it.
 */
export class ThreadChannel {
  readonly threadId: string;
  readonly events = new EventLog({ history: false });
  readonly #onEvent: (event: CodexEvent) => void;
  readonly #live = new Map<string, LiveTurn>();
  readonly #ended: EndedTurns;
  /** Pending calls that start a turn. `lost` is set if the server dies before answering. */
  readonly #starting = new Set<{ lost?: CodexError }>();
  /** Turns that ended before the response to the call that may have started them. */
  readonly #unclaimed = new BoundedMap<string, LiveTurn>(CHANNEL_LIMITS.unclaimedTurns);
  /** Waits for the turn of a message, by message ID. */
  readonly #awaited = new Map<string, Waiter>();
  /** Waits for the next turn, no matter which message starts it. */
  readonly #awaitedNext = new Set<Waiter>();
  /** Messages that should each start a new turn, with that turn once it is known. */
  readonly #ownStarts = new Map<string, LiveTurn | undefined>();
  readonly #turnListeners = new Set<(turn: LiveTurn) => void>();
  readonly #queueListeners = new Set<() => void>();
  queueState: QueueState = "empty";
  #total: TokenUsage | undefined;
  #closed: CodexError | undefined;

  constructor(threadId: string, { onEvent = () => {}, ended = createEndedTurns() }: ChannelOptions = {}) {
    this.threadId = threadId;
    this.#onEvent = onEvent;
    this.#ended = ended;
  }

  /** The running turn; the newest if there are several. */
  get activeTurn(): LiveTurn | undefined {
    return this.liveTurns.at(-1);
  }

  /** All running turns, oldest first. */
  get liveTurns(): LiveTurn[] {
    return [...this.#live.values()];
  }

  /** The latest state of an item of a running turn. */
  item(itemId: string): v2.ThreadItem | undefined {
    for (const turn of this.#live.values()) {
      const item = turn.item(itemId);
      if (item) return item;
    }
    return undefined;
  }

  /** The items of all running turns. */
  items(): readonly v2.ThreadItem[] {
    return [...this.#live.values()].flatMap(({ items }) => items);
  }

  /** Calls the listener for every turn that starts, of this client or another. */
  onTurn(listener: (turn: LiveTurn) => void): Disposable {
    // Wrapped, so that a listener added twice is called twice and each registration is disposed of on its own.
    const entry = (turn: LiveTurn): void => listener(turn);
    this.#turnListeners.add(entry);
    return { [Symbol.dispose]: () => void this.#turnListeners.delete(entry) };
  }

  /** Calls the listener when the server reports a change of the thread's queue. */
  onQueueChanged(listener: () => void): Disposable {
    const entry = (): void => listener();
    this.#queueListeners.add(entry);
    return { [Symbol.dispose]: () => void this.#queueListeners.delete(entry) };
  }

  /** Announces a call that starts a turn: the turn may start, and even end, before the response arrives. */
  expectStart(clientMessageId?: string): StartingTurn {
    const starting: { lost?: CodexError } = {};
    this.#starting.add(starting);
    if (clientMessageId !== undefined) this.#ownStarts.set(clientMessageId, undefined);
    return {
      claim: (turnId) => {
        const turn = this.#unclaimed.get(turnId) ?? this.turn(turnId);
        // The connection was lost after the response: no notification will end this turn.
        if (starting.lost) this.#fail(turn, starting.lost);
        if (clientMessageId !== undefined && !turn.end && this.#ownStarts.has(clientMessageId)) {
          this.#ownStarts.set(clientMessageId, turn);
        }
        return turn;
      },
      done: () => {
        this.#starting.delete(starting);
        if (this.#starting.size === 0) this.#unclaimed.clear();
        if (clientMessageId !== undefined && !this.#ownStarts.get(clientMessageId)) {
          this.#ownStarts.delete(clientMessageId);
        }
      },
    };
  }

  /** The turn with this ID. Starts tracking it if it is unknown. */
  turn(turnId: string): LiveTurn {
    const known = this.#live.get(turnId);
    if (known) return known;
    const turn = new LiveTurn(this.threadId, turnId, this.#total);
    if (this.#closed) {
      turn.fail(this.#closed);
      return turn;
    }
    this.#live.set(turnId, turn);
    for (const { resolve } of this.#awaitedNext) resolve(turn);
    this.#awaitedNext.clear();
    for (const listener of this.#turnListeners) this.#callTurnListener(listener, turn);
    return turn;
  }

  /** Starts tracking a turn that started before this client subscribed to the thread. */
  join({ id, items }: v2.Turn): void {
    // It may have ended while the server was asked about it.
    if (!this.#ended.has(id)) this.turn(id).join(items);
  }

  /** Waits for the turn that starts with this message, of any client. */
  turnOfMessage(clientMessageId: string): AwaitedTurn {
    if (this.#awaited.has(clientMessageId)) {
      const message = `clientUserMessageId "${clientMessageId}" is already queued on this thread. Use another ID.`;
      throw new CodexError("invalid_argument", message);
    }
    const { turn, waiter } = this.#await();
    if (!this.#closed) this.#awaited.set(clientMessageId, waiter);
    return { turn, stop: () => void this.#awaited.delete(clientMessageId) };
  }

  /** Waits for the next turn, for calls whose response does not name the turn that they start. */
  nextTurn(): AwaitedTurn {
    const { turn, waiter } = this.#await();
    if (!this.#closed) this.#awaitedNext.add(waiter);
    return { turn, stop: () => void this.#awaitedNext.delete(waiter) };
  }

  /** Applies a notification about this thread and returns its event. */
  receive(notification: ParsedNotification): CodexEvent {
    const event = this.#apply(notification);
    if (event.type === "usage.updated") this.#total = event.total;
    this.#emit(event);
    if (event.type === "item.started" && event.item.type === "userMessage") this.#matchMessage(event);
    if (event.type === "notice" && event.raw.method === "thread/queue/changed") {
      if (this.queueState === "empty") this.queueState = "changed";
      for (const listener of this.#queueListeners) listener();
    }
    if (event.type === "notice") this.#rejectAwaited(event.raw.method);
    return event;
  }

  /** Publishes an event that is not a notification to the readers of the thread and of its turn. */
  publish(event: CodexEvent): void {
    const turnId = "turnId" in event ? event.turnId : undefined;
    if (typeof turnId === "string") this.#live.get(turnId)?.publish(event);
    this.#emit(event);
  }

  /** Fails all running turns and all waits for turns, because the connection is lost. */
  failAll(error: CodexError): void {
    for (const starting of this.#starting) starting.lost = error;
    for (const { reject } of [...this.#awaited.values(), ...this.#awaitedNext]) reject(error);
    this.#awaited.clear();
    this.#awaitedNext.clear();
    // Not marked as ended: on a server that is only unreachable they continue, and may be reported again.
    for (const turn of this.liveTurns) this.#fail(turn, error);
  }

  /** Fails a turn that is over although the server did not report it. No-op if it has already ended. */
  fail(turn: LiveTurn, error: CodexError): void {
    this.#ended.add(turn.turnId);
    this.#fail(turn, error);
  }

  /** Ends the channel. Running turns and waits fail with `closed`, whatever the server does afterwards. */
  close(): void {
    this.#closed ??= new CodexError("closed", `Thread ${this.threadId} was closed by this program.`);
    this.failAll(this.#closed);
    this.events.end();
  }

  /** Codex starts nothing on an archived or deleted thread: its queued input would be awaited forever. */
  #rejectAwaited(method: string): void {
    const end = QUEUE_ENDS[method];
    if (end === undefined) return;
    const error = new CodexError("closed", `Thread ${this.threadId} was ${end}`);
    for (const { reject } of this.#awaited.values()) reject(error);
    this.#awaited.clear();
  }

  #apply(notification: ParsedNotification): CodexEvent {
    const turnId = turnIdOf(notification);
    const known = turnId === undefined ? undefined : this.#live.get(turnId);
    if (known) {
      const event = known.apply(notification);
      if (known.end) {
        this.#ended.add(known.turnId);
        this.#retire(known);
      }
      return event;
    }
    if (turnId === undefined) return this.#toUntrackedEvent(notification);
    if (notification.type === "turn.started") {
      const review = this.liveTurns.find((turn) => turn.isReviewToStart);
      if (review) {
        review.interruptId = turnId;
        return review.apply({ ...notification, turnId: review.turnId });
      }
    }
    if (STARTS_TURN.has(notification.type) && !this.#ended.has(turnId)) {
      return this.turn(turnId).apply(notification);
    }
    if (notification.type === "turn-end") {
      // Its end was already published from the stored turn. This notification adds nothing.
      if (this.#ended.has(turnId)) {
        return { type: "notice", threadId: this.threadId, turnId, raw: notification.raw };
      }
      this.#ended.add(turnId);
    }
    return this.#toUntrackedEvent(notification);
  }

  #toUntrackedEvent(notification: ParsedNotification): CodexEvent {
    const event = toEvent(notification, toUntrackedState(notification, this.#total));
    return event.type === "item.completed" ? { ...event, late: true } : event;
  }

  #fail(turn: LiveTurn, error: CodexError): void {
    if (turn.end) return;
    const event = turn.fail(error);
    this.#retire(turn);
    this.#emit(event);
  }

  #matchMessage({ turnId, item }: ItemStartedEvent): void {
    const clientId = item.type === "userMessage" ? item.clientId : null;
    const turn = this.#live.get(turnId);
    if (clientId === null || !turn) return;
    this.#awaited.get(clientId)?.resolve(turn);
    if (this.#ownStarts.delete(clientId) && !turn.startedWith(item.id)) {
      const message = "Another client had just started a turn, so this input was added to it.";
      this.publish({ type: "warning", kind: "steered", threadId: this.threadId, turnId, message });
    }
  }

  #callTurnListener(listener: (turn: LiveTurn) => void, turn: LiveTurn): void {
    try {
      listener(turn);
    } catch (error) {
      // The other listeners must still be called, and the first event of the turn must still arrive.
      const message = `A turn listener threw: ${String(error)}`;
      const { threadId, turnId } = turn;
      this.publish({ type: "warning", kind: "listener_failed", threadId, turnId, message });
    }
  }

  #await(): { turn: Promise<LiveTurn>; waiter: Waiter } {
    const { promise, resolve, reject } = Promise.withResolvers<LiveTurn>();
    promise.catch(() => {}); // The caller may have stopped waiting by the time the connection is lost.
    if (this.#closed) reject(this.#closed);
    return { turn: promise, waiter: { resolve, reject } };
  }

  #emit(event: CodexEvent): void {
    this.events.push(event);
    this.#onEvent(event);
  }

  #retire(turn: LiveTurn): void {
    this.#live.delete(turn.turnId);
    for (const [messageId, own] of this.#ownStarts) if (own === turn) this.#ownStarts.delete(messageId);
    if (this.#starting.size > 0) this.#unclaimed.set(turn.turnId, turn);
  }
}

function turnIdOf(notification: ParsedNotification): string | undefined {
  if (notification.type === "usage") return notification.params.turnId;
  if (notification.type === "turn-end") return notification.params.turn.id;
  return "turnId" in notification ? notification.turnId : undefined;
}
