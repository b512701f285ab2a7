import type { v2 } from "@codexkit/protocol";
import { CodexError } from "../errors.ts";
import { EventLog } from "../events/event-log.ts";
import type { CodexEvent, ItemStartedEvent } from "../events/event.ts";
import type { ParsedNotification } from "../events/parse-notification.ts";
import { LiveTurn } from "../turn/live-turn.ts";
import type { TokenUsage } from "../events/turn-result.ts";
import { EndedTurns } from "./ended-turns.ts";

/** Only these begin a turn that was not known: what else comes may be the last word of one that is over. */
const BEGINNINGS: ReadonlySet<ParsedNotification["type"]> = new Set([
  "turn.started",
  "item.started",
  "item.delta",
  "plan.updated",
  "diff.updated",
]);

/** Notifications after which queued input does not run, with what its caller can do. */
const PUT_AWAY: Readonly<Record<string, string>> = {
  "thread/archived": "archived. Its queue is kept; thread.queue lists it once the thread is unarchived.",
  "thread/deleted": "deleted, with its queue.",
};

/** How many turns that ended are kept for a call that may have started them. Other clients' turns may be among them. */
const UNCLAIMED_TURNS = 32;

export interface ChannelOptions {
  /** Hears every event of the thread, after the readers of the thread. */
  readonly publish?: (event: CodexEvent) => void;
  /** The turns that are over, where channels share that knowledge. */
  readonly ended?: EndedTurns;
}

/** A call that starts a turn, between its sending and its answer. */
export interface StartingTurn {
  /** The turn that the answer names. */
  claim(turnId: string): LiveTurn;
  /** The call is over, whether or not it was answered. */
  done(): void;
}

/** A turn that is still to begin. */
export interface AwaitedTurn {
  /** Rejects when the server is gone or the thread is let go. */
  readonly turn: Promise<LiveTurn>;
  stop(): void;
}

/**
 * What is known of the server's queue for this thread. `changed`: it may hold input. `held`: it held input when last listed,
 * which the server may start at any moment.
 */
export type QueueState = "empty" | "changed" | "held";

type Waiter = Pick<PromiseWithResolvers<LiveTurn>, "resolve" | "reject">;

/**
 * Everything that arrives for one thread: its turns, whoever started them, and the thread's own stream of events. A turn
 * is made by whatever names it first, its first event or the answer to the call that started it.
 */
export class ThreadChannel {
  readonly threadId: string;
  readonly events = new EventLog({ history: false });
  readonly #publish: (event: CodexEvent) => void;
  readonly #live = new Map<string, LiveTurn>();
  readonly #ended: EndedTurns;
  /** Calls that start a turn and have no answer yet; `lost` when the server died meanwhile. */
  readonly #starting = new Set<{ lost?: CodexError }>();
  /** Turns that ended while a call that may have started them was still unanswered. */
  readonly #unclaimed = new Map<string, LiveTurn>();
  /** Messages that a turn is awaited for, by their id. */
  readonly #awaited = new Map<string, Waiter>();
  /** Whoever awaits the next turn, whatever it begins with. */
  readonly #awaitedNext = new Set<Waiter>();
  /** Messages that were to begin a turn of their own, with that turn once it is known. */
  readonly #ownStarts = new Map<string, LiveTurn | undefined>();
  readonly #turnListeners = new Set<(turn: LiveTurn) => void>();
  readonly #queueListeners = new Set<() => void>();
  queueState: QueueState = "empty";
  #total: TokenUsage | undefined;
  #closed: CodexError | undefined;

  constructor(threadId: string, { publish = () => {}, ended = new EndedTurns() }: ChannelOptions = {}) {
    this.threadId = threadId;
    this.#publish = publish;
    this.#ended = ended;
  }

  /** The turn that runs now, the newest where there are several. */
  get activeTurn(): LiveTurn | undefined {
    return this.liveTurns.at(-1);
  }

  /** Every turn that has not ended, oldest first. */
  get liveTurns(): LiveTurn[] {
    return [...this.#live.values()];
  }

  /** The item of a turn that runs, as it is known now. */
  item(itemId: string): v2.ThreadItem | undefined {
    for (const turn of this.#live.values()) {
      const item = turn.item(itemId);
      if (item) return item;
    }
    return undefined;
  }

  /** The items of all turns that run. */
  items(): readonly v2.ThreadItem[] {
    return [...this.#live.values()].flatMap(({ items }) => items);
  }

  /** Hears of every turn as it begins, this client's and others'. */
  onTurn(listener: (turn: LiveTurn) => void): Disposable {
    // A function of its own for each: the same listener may listen twice, and each stops alone.
    const entry = (turn: LiveTurn): void => listener(turn);
    this.#turnListeners.add(entry);
    return { [Symbol.dispose]: () => void this.#turnListeners.delete(entry) };
  }

  /** Called when the server reports a change of the thread's queue. */
  onQueueChanged(listener: () => void): Disposable {
    const entry = (): void => listener();
    this.#queueListeners.add(entry);
    return { [Symbol.dispose]: () => void this.#queueListeners.delete(entry) };
  }

  /** A call that starts a turn is on its way: its turn may come, and even end, before the answer does. */
  expectStart(clientMessageId?: string): StartingTurn {
    const starting: { lost?: CodexError } = {};
    this.#starting.add(starting);
    if (clientMessageId !== undefined) this.#ownStarts.set(clientMessageId, undefined);
    return {
      claim: (turnId) => {
        const turn = this.#unclaimed.get(turnId) ?? this.turn(turnId);
        // The answer was the server's last word: nothing will ever end this turn.
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

  /** The turn of this id, begun here if it was not known. */
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
    for (const listener of this.#turnListeners) this.#hearTurn(listener, turn);
    return turn;
  }

  /** Takes over a turn that began before this client listened to the thread. */
  join({ id, items }: v2.Turn): void {
    // Its end may have arrived while the server was asked about it.
    if (!this.#ended.has(id)) this.turn(id).join(items);
  }

  /** The turn that will begin with this message, of whatever client. */
  turnOfMessage(clientMessageId: string): AwaitedTurn {
    if (this.#awaited.has(clientMessageId)) {
      const message = `clientUserMessageId "${clientMessageId}" is already queued on this thread. Use another id.`;
      throw new CodexError("invalid_argument", message);
    }
    const { turn, waiter } = this.#await();
    if (!this.#closed) this.#awaited.set(clientMessageId, waiter);
    return { turn, stop: () => void this.#awaited.delete(clientMessageId) };
  }

  /** The next turn that begins, for calls that start one and do not say which. */
  nextTurn(): AwaitedTurn {
    const { turn, waiter } = this.#await();
    if (!this.#closed) this.#awaitedNext.add(waiter);
    return { turn, stop: () => void this.#awaitedNext.delete(waiter) };
  }

  /** Takes what the server said of this thread; gives the event that it became. */
  take(reading: ParsedNotification): CodexEvent {
    const event = this.#takeInTurn(reading);
    if (event.type === "usage.updated") this.#total = event.total;
    this.#tell(event);
    if (event.type === "item.started" && event.item.type === "userMessage") this.#meetMessage(event);
    if (event.type === "notice" && event.raw.method === "thread/queue/changed") {
      if (this.queueState === "empty") this.queueState = "changed";
      for (const listener of this.#queueListeners) listener();
    }
    if (event.type === "notice") this.#endAwaited(event.raw.method);
    return event;
  }

  /** Shows an event that is not a notification to the thread's readers, and to its turn's. */
  show(event: CodexEvent): void {
    const turnId = "turnId" in event ? event.turnId : undefined;
    if (typeof turnId === "string") this.#live.get(turnId)?.show(event);
    this.#tell(event);
  }

  /** Ends every turn that runs, and every wait for one, because the server is gone. */
  failAll(error: CodexError): void {
    for (const starting of this.#starting) starting.lost = error;
    for (const { reject } of [...this.#awaited.values(), ...this.#awaitedNext]) reject(error);
    this.#awaited.clear();
    this.#awaitedNext.clear();
    // They may go on with a server that is only out of reach, and be heard of again: they are not over.
    for (const turn of this.liveTurns) this.#fail(turn, error);
  }

  /** Ends a turn that is over although the server never said so; one that ended already stays as it is. */
  fail(turn: LiveTurn, error: CodexError): void {
    this.#ended.add(turn.turnId);
    this.#fail(turn, error);
  }

  /** Nothing more will be heard here: what is still awaited ends now, whatever the server goes on to do. */
  close(): void {
    this.#closed ??= new CodexError("closed", `Thread ${this.threadId} was closed on this side.`);
    this.failAll(this.#closed);
    this.events.end();
  }

  /** Codex starts nothing on a thread that was put away: what is still queued there would be awaited forever. */
  #endAwaited(method: string): void {
    const end = PUT_AWAY[method];
    if (end === undefined) return;
    const error = new CodexError("closed", `Thread ${this.threadId} was ${end}`);
    for (const { reject } of this.#awaited.values()) reject(error);
    this.#awaited.clear();
  }

  #takeInTurn(reading: ParsedNotification): CodexEvent {
    const turnId = turnIdOf(reading);
    if (turnId === undefined) return new LiveTurn(this.threadId, "", undefined).take(reading);
    const known = this.#live.get(turnId);
    if (known) {
      const event = known.take(reading);
      if (known.end) {
        this.#ended.add(turnId);
        this.#retire(known);
      }
      return event;
    }
    if (reading.type === "turn.started") {
      const review = this.liveTurns.find((turn) => turn.isReviewToStart);
      if (review) {
        review.interruptId = turnId;
        return review.take({ ...reading, turnId: review.turnId });
      }
    }
    if (BEGINNINGS.has(reading.type) && !this.#ended.has(turnId)) return this.turn(turnId).take(reading);
    if (reading.type === "turn-end") {
      // Its end was told already, from what was stored; this one says nothing new.
      if (this.#ended.has(turnId)) {
        return { type: "notice", threadId: this.threadId, turnId, raw: reading.raw };
      }
      this.#ended.add(turnId);
    }
    const event = new LiveTurn(this.threadId, turnId, this.#total).take(reading);
    return event.type === "item.completed" ? { ...event, late: true } : event;
  }

  #fail(turn: LiveTurn, error: CodexError): void {
    if (turn.end) return;
    const event = turn.fail(error);
    this.#retire(turn);
    this.#tell(event);
  }

  #meetMessage({ turnId, item }: ItemStartedEvent): void {
    const clientId = item.type === "userMessage" ? item.clientId : null;
    const turn = this.#live.get(turnId);
    if (clientId === null || !turn) return;
    this.#awaited.get(clientId)?.resolve(turn);
    if (this.#ownStarts.delete(clientId) && !turn.beganWith(item.id)) {
      const message = "Another client had just started a turn: this input was added to it.";
      this.show({ type: "warning", kind: "steered", threadId: this.threadId, turnId, message });
    }
  }

  #hearTurn(listener: (turn: LiveTurn) => void, turn: LiveTurn): void {
    try {
      listener(turn);
    } catch (error) {
      // What the turn began with must still arrive, here and at the other listeners.
      const message = `A listener for turns threw: ${String(error)}`;
      const { threadId, turnId } = turn;
      this.show({ type: "warning", kind: "listener_failed", threadId, turnId, message });
    }
  }

  #await(): { turn: Promise<LiveTurn>; waiter: Waiter } {
    const { promise, resolve, reject } = Promise.withResolvers<LiveTurn>();
    promise.catch(() => {}); // Nobody may be waiting any more when the server dies.
    if (this.#closed) reject(this.#closed);
    return { turn: promise, waiter: { resolve, reject } };
  }

  #tell(event: CodexEvent): void {
    this.events.push(event);
    this.#publish(event);
  }

  #retire(turn: LiveTurn): void {
    this.#live.delete(turn.turnId);
    for (const [messageId, own] of this.#ownStarts) if (own === turn) this.#ownStarts.delete(messageId);
    if (this.#starting.size === 0) return;
    this.#unclaimed.set(turn.turnId, turn);
    const [oldest] = this.#unclaimed.keys();
    if (this.#unclaimed.size > UNCLAIMED_TURNS && oldest !== undefined) this.#unclaimed.delete(oldest);
  }
}

function turnIdOf(reading: ParsedNotification): string | undefined {
  if (reading.type === "usage") return reading.params.turnId;
  if (reading.type === "turn-end") return reading.params.turn.id;
  return "turnId" in reading ? reading.turnId : undefined;
}
