import type { v2 } from "@codexkit/protocol";
import { randomUUID } from "node:crypto";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";
import { interruptTurn } from "../turn/interrupt-turn.ts";
import type { LiveTurn } from "../turn/live-turn.ts";
import { abortedError, orAborted } from "../turn/or-aborted.ts";
import type { WhenBusy } from "./run-options.ts";
import type { AwaitedTurn, ThreadChannel } from "./thread-channel.ts";

export interface TurnRequest {
  readonly params: Omit<v2.TurnStartParams, "threadId">;
  readonly whenBusy: WhenBusy;
  readonly signal: AbortSignal | undefined;
}

/** What a step came to. Wrapped, so that returning a turn does not wait for it: a queued one may be hours away. */
type Step =
  | { readonly turn: LiveTurn | Promise<LiveTurn> }
  /** This turn is in the way; once it ended it is worth another try. */
  | { readonly busyWith: LiveTurn };

/** What `turn/steer` takes besides its input. */
const STEERABLE: ReadonlySet<string> = new Set([
  "responsesapiClientMetadata",
  "responsesapiClientMetadataPatch",
  "additionalContext",
]);

/**
 * Starts the turns of one thread, one at a time. `turn/start` on a busy thread adds its input to the turn that runs, so
 * looking and starting must be one step: two calls at once would otherwise become one turn.
 */
export class TurnStarter {
  readonly #caller: Pick<Caller, "request">;
  readonly #channel: ThreadChannel;
  #step: Promise<unknown> = Promise.resolve();
  #line: Promise<unknown> = Promise.resolve();

  constructor(caller: Pick<Caller, "request">, channel: ThreadChannel) {
    this.#caller = caller;
    this.#channel = channel;
  }

  async start(request: TurnRequest): Promise<LiveTurn> {
    const { signal } = request;
    const begun = request.whenBusy === "wait" ? this.#beginInLine(request) : this.#begin(request);
    try {
      return await orAborted(begun, signal);
    } catch (error) {
      // Its caller is gone, but the call may be with the server already: a turn must not run for nobody.
      if (signal?.aborted) begun.then((turn) => this.#interrupt(turn)).catch(() => {});
      throw error;
    }
  }

  /** Those that wait are served in the order in which they came. */
  #beginInLine(request: TurnRequest): Promise<LiveTurn> {
    const mine = this.#line.then(() => this.#begin(request));
    this.#line = mine.catch(() => {});
    return mine;
  }

  async #begin(request: TurnRequest): Promise<LiveTurn> {
    for (;;) {
      const step = await this.#inStep(() => this.#startOrChoose(request));
      if ("turn" in step) return step.turn;
      await step.busyWith.ended;
    }
  }

  #inStep(step: () => Promise<Step>): Promise<Step> {
    const mine = this.#step.then(step);
    this.#step = mine.catch(() => {});
    return mine;
  }

  async #startOrChoose(request: TurnRequest): Promise<Step> {
    if (request.signal?.aborted) throw abortedError(request.signal);
    const active = this.#channel.activeTurn;
    if (!active) return { turn: await this.#startNow(request) };
    switch (request.whenBusy) {
      case "wait":
        return { busyWith: active };
      case "steer":
        return this.#steer(active, request);
      case "queue":
        return this.#queue(request);
      case "reject":
        throw new CodexError(
          "thread_busy",
          `Turn ${active.turnId} runs on this thread. Pass whenBusy: "wait", "queue" or "steer", or interrupt it.`,
        );
    }
  }

  async #startNow({ params }: TurnRequest): Promise<LiveTurn> {
    const clientUserMessageId = randomUUID();
    const starting = this.#channel.expectStart(clientUserMessageId);
    try {
      // Without the signal: of a call given up on half-way nobody would know which turn it started.
      const { turn } = await this.#caller.request("turn/start", {
        threadId: this.#channel.threadId,
        clientUserMessageId,
        ...params,
      });
      return starting.claim(turn.id);
    } finally {
      starting.done();
    }
  }

  async #steer(active: LiveTurn, { params, signal }: TurnRequest): Promise<Step> {
    const { input, ...settings } = params;
    refuseSettings(settings, STEERABLE, `A turn that runs keeps its settings`, "steer");
    try {
      await this.#caller.request(
        "turn/steer",
        { threadId: this.#channel.threadId, expectedTurnId: active.turnId, input, ...settings },
        signal ? { signal } : {},
      );
      return { turn: active };
    } catch (error) {
      if (error instanceof CodexError && error.code === "turn_not_active") return { busyWith: active };
      throw error;
    }
  }

  /** The server starts a queued turn by itself; the turn is known by the message that it begins with. */
  async #queue({ params, signal }: TurnRequest): Promise<Step> {
    const { input, ...settings } = params;
    refuseSettings(settings, new Set(), `A queued turn runs with the thread's settings`, "queue");
    const clientUserMessageId = randomUUID();
    const awaited = this.#channel.turnOfMessage(clientUserMessageId);
    try {
      const { queuedSubmission } = await this.#caller.request("thread/queue/add", {
        threadId: this.#channel.threadId,
        input,
        clientUserMessageId,
      });
      return { turn: this.#queuedTurn(awaited, queuedSubmission.id, signal) };
    } catch (error) {
      awaited.stop();
      throw error;
    }
  }

  async #queuedTurn(
    awaited: AwaitedTurn,
    queuedSubmissionId: string,
    signal: AbortSignal | undefined,
  ): Promise<LiveTurn> {
    try {
      return await orAborted(awaited.turn, signal);
    } catch (error) {
      if (!signal?.aborted) throw error;
      const { threadId } = this.#channel;
      const taken = this.#caller.request("thread/queue/delete", { threadId, queuedSubmissionId });
      const isOut = await taken.then(
        () => true,
        () => false, // Too late: it is no longer queued because it begins.
      );
      if (isOut) throw error;
      return await awaited.turn;
    } finally {
      awaited.stop();
    }
  }

  #interrupt(live: LiveTurn): Promise<void> {
    const { threadId } = live;
    return interruptTurn(live, (turnId) => this.#caller.request("turn/interrupt", { threadId, turnId }));
  }
}

/** Settings that would be lost without a word are refused instead. */
function refuseSettings(
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
    `${reason}; ${refused.join(", ")} can't go with whenBusy: "${whenBusy}".`,
  );
}
