import type { v2 } from "@codexkit/protocol";
import type { Caller } from "../connection/caller.ts";
import { abortedError, CodexError } from "../errors.ts";
import { interruptTurn } from "../turn/interrupt-turn.ts";
import { LiveTurn } from "../turn/live-turn.ts";
import { raceAbort, SerialQueue } from "@codexkit/rpc/async";
import { QueuedTurns, type Sleep, sleepOnTimer } from "./queued-turns.ts";
import type { WhenBusy } from "./run-options.ts";
import { ServerQueue } from "./server-queue.ts";
import type { ThreadChannel } from "../routing/thread-channel.ts";
import { uniqueId } from "../unique-id.ts";

export interface TurnRequest {
  readonly params: Omit<v2.TurnStartParams, "threadId">;
  readonly whenBusy: WhenBusy;
  readonly signal: AbortSignal | undefined;
  /** Aborts if the turn is interrupted before it has started; it then ends as interrupted and is never started. */
  readonly cancelled?: AbortSignal;
}

/** Calls to the server. */
export interface StarterCaller extends Pick<Caller, "request"> {
  /** Resolves when the server has loaded the thread and its running turn is known. */
  loaded?(): Promise<void>;
}

/**
 * Result of a step. Wrapped, because returning a turn's promise directly would wait for it: a queued turn may start
 * hours later.
 */
type Step =
  | { readonly turn: LiveTurn | Promise<LiveTurn> }
  /** The thread is busy. Retry after this. */
  | { readonly retryAfter: Promise<unknown> };

const NEVER = new AbortController().signal;

/** Params of `turn/steer` besides its input. */
const STEERABLE: ReadonlySet<string> = new Set([
  "responsesapiClientMetadata",
  "responsesapiClientMetadataPatch",
  "additionalContext",
  "clientUserMessageId",
]);

/** Params of `thread/queue/add` besides its input. */
const QUEUEABLE: ReadonlySet<string> = new Set(["clientUserMessageId"]);

/**
 * Starts the turns of one thread, one at a time. `turn/start` on a busy thread adds its input to the running turn, so
 * checking and starting must be one step: otherwise two concurrent calls would become one turn.
 */
export class TurnStarter {
  readonly #caller: StarterCaller;
  readonly #channel: ThreadChannel;
  readonly #queued: QueuedTurns;
  readonly #serverQueue: ServerQueue;
  readonly #steps = new SerialQueue();
  readonly #waiting = new SerialQueue();

  constructor(caller: StarterCaller, channel: ThreadChannel, sleep: Sleep = sleepOnTimer) {
    this.#caller = caller;
    this.#channel = channel;
    this.#queued = new QueuedTurns(caller, channel, () => this.#steps.run(() => this.#startQueued()), sleep);
    this.#serverQueue = new ServerQueue(caller, channel, sleep);
  }

  async start(request: TurnRequest): Promise<LiveTurn> {
    const { signal } = request;
    const begun = request.whenBusy === "wait" ? this.#beginInOrder(request) : this.#begin(request);
    try {
      return await raceAbort(begun, signal, abortedError);
    } catch (error) {
      // The call may already have reached the server: a turn must not run without its caller.
      if (signal?.aborted) begun.then((turn) => this.#interrupt(turn)).catch(() => {});
      throw error;
    }
  }

  /** Serves waiting requests in the order of their calls. */
  async #beginInOrder(request: TurnRequest): Promise<LiveTurn> {
    const acquired = this.#waiting.acquire();
    try {
      await untilCancelled(acquired, request.cancelled);
      return await this.#begin(request);
    } finally {
      // A cancelled request returns early, but keeps its place, so that later ones still wait for earlier ones.
      void acquired.then((lock) => lock[Symbol.dispose]());
    }
  }

  async #begin(request: TurnRequest): Promise<LiveTurn> {
    for (;;) {
      const step = await this.#steps.run(() => this.#startOrChoose(request));
      if ("turn" in step) return step.turn;
      await untilCancelled(step.retryAfter, request.cancelled);
    }
  }

  async #startOrChoose(request: TurnRequest): Promise<Step> {
    if (request.signal?.aborted) throw abortedError(request.signal);
    if (request.cancelled?.aborted) {
      return { turn: LiveTurn.interruptedBeforeStart(this.#channel.threadId) };
    }
    // A server that has just loaded the thread may start queued input immediately.
    await this.#caller.loaded?.();
    if (!this.#channel.activeTurn && this.#queued.size === 0) await this.#serverQueue.settled();
    const active = this.#channel.activeTurn;
    // A queued turn is about to start, and would absorb the input of a turn that is started now.
    if (!active && this.#queued.size === 0) return { turn: await this.#startNow(request) };
    switch (request.whenBusy) {
      case "wait":
        return { retryAfter: active?.ended ?? this.#queued.changed };
      case "steer":
        return active ? this.#steer(active, request) : { retryAfter: this.#queued.changed };
      case "queue":
        return this.#queue(request);
      case "reject":
        throw new CodexError(
          "thread_busy",
          `${active ? `Turn ${active.turnId} is running` : "Queued input is about to run"} on this thread. Pass whenBusy: "wait", "queue" or "steer", or interrupt it.`,
        );
    }
  }

  /**
   * Asks the server to start the first entry of its queue. Runs as a step, so that no other turn is started
   * meanwhile.
   */
  async #startQueued(): Promise<void> {
    if (this.#channel.activeTurn) return;
    const { threadId } = this.#channel;
    const starting = this.#channel.expectStart();
    try {
      const { turn } = await this.#caller.request("thread/queue/start", { threadId });
      starting.claim(turn.id);
    } finally {
      starting.done();
    }
  }

  async #startNow({ params }: TurnRequest): Promise<LiveTurn> {
    const clientUserMessageId = params.clientUserMessageId ?? uniqueId();
    const starting = this.#channel.expectStart(clientUserMessageId);
    try {
      // Without the signal: an aborted call would leave it unknown which turn it started.
      const { turn } = await this.#caller.request("turn/start", {
        threadId: this.#channel.threadId,
        ...params,
        clientUserMessageId,
      });
      return starting.claim(turn.id);
    } finally {
      starting.done();
    }
  }

  async #steer(active: LiveTurn, { params, signal }: TurnRequest): Promise<Step> {
    const { input, ...settings } = params;
    rejectSettings(settings, STEERABLE, `A running turn keeps its settings`, "steer");
    try {
      await this.#caller.request(
        "turn/steer",
        { threadId: this.#channel.threadId, expectedTurnId: active.turnId, input, ...settings },
        signal ? { signal } : {},
      );
      return { turn: active };
    } catch (error) {
      if (CodexError.is(error) && error.code === "turn_not_active") return { retryAfter: active.ended };
      throw error;
    }
  }

  #queue({ params, signal, cancelled = NEVER }: TurnRequest): Promise<Step> {
    const { input, ...settings } = params;
    rejectSettings(settings, QUEUEABLE, `A queued turn runs with the thread's settings`, "queue");
    const clientUserMessageId = params.clientUserMessageId ?? uniqueId();
    return this.#queued.add({ input, clientUserMessageId, signal, cancelled });
  }

  #interrupt(live: LiveTurn): Promise<void> {
    const { threadId } = live;
    return interruptTurn(live, (turnId) => this.#caller.request("turn/interrupt", { threadId, turnId }));
  }
}

/** Waits for the promise, or until the signal aborts. */
async function untilCancelled(promise: Promise<unknown>, cancelled: AbortSignal | undefined): Promise<void> {
  try {
    await raceAbort(promise, cancelled, abortedError);
  } catch (error) {
    if (!cancelled?.aborted) throw error;
  }
}

/** Rejects settings that would be silently ignored. */
function rejectSettings(
  settings: object,
  accepted: ReadonlySet<string>,
  reason: string,
  whenBusy: WhenBusy,
): void {
  const refused = Object.entries(settings).flatMap(([key, value]) =>
    value === undefined || accepted.has(key) ? [] : [key],
  );
  if (refused.length === 0) return;
  throw new CodexError(
    "invalid_argument",
    `${reason}; ${refused.join(", ")} can't be combined with whenBusy: "${whenBusy}".`,
  );
}
