import type { v2 } from "@codexkit/protocol";
import { setTimeout as delay } from "node:timers/promises";
import type { Caller } from "../connection/caller.ts";
import { abortedError, CodexError, type CodexErrorCode } from "../errors.ts";
import { LiveTurn } from "../turn/live-turn.ts";
import { raceAbort } from "@codexkit/rpc/async";
import type { AwaitedTurn, ThreadChannel } from "../routing/thread-channel.ts";

export interface QueueRequest {
  readonly input: v2.UserInput[];
  readonly clientUserMessageId: string;
  /** Takes the input out of the queue; the turn then rejects with `aborted`. */
  readonly signal: AbortSignal | undefined;
  /** Takes the input out of the queue; the turn then ends as interrupted. */
  readonly cancelled: AbortSignal;
}

/** Waits; resolves early when the signal fires. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

const QUEUE_LIMITS = {
  /** Codex starts queued input within milliseconds of a completed or failed turn. Later than this it is asked to. */
  drainGraceMs: 1_000,
  /** How soon a queue that could not be started is tried again; doubled each time. */
  retryMs: 500,
  longestRetryMs: 15_000,
  /**
   * Input that left the queue becomes a turn within milliseconds. Found in neither this many times, with `retryMs` in
   * between, it was removed by another client.
   */
  missingLooks: 3,
} as const;

/** Errors after which nothing in the queue can begin for this client. */
const FATAL: ReadonlySet<CodexErrorCode> = new Set<CodexErrorCode>([
  "app_server_crashed",
  "closed",
  "connection_lost",
  "codex_not_found",
  "codex_start_failed",
  "thread_locked",
  "thread_lost",
  "thread_not_found",
]);

interface Submission {
  readonly id: string;
  readonly awaited: AwaitedTurn;
  /** Settles the turn without a beginning: removed by another client, or the queue can't be started. */
  readonly withoutTurn: PromiseWithResolvers<LiveTurn>;
  /** How often in a row it was found neither in the queue nor in a turn. */
  missingLooks: number;
}

/**
 * The turns that this client left in Codex's queue. Codex starts them after a completed or failed turn, but pauses its
 * queue after an interrupt, and does not report input that another client removes. This class starts a paused queue again
 * and looks after removed input, so that every queued turn settles.
 */
export class QueuedTurns {
  readonly #caller: Pick<Caller, "request">;
  readonly #channel: ThreadChannel;
  readonly #startNext: () => Promise<void>;
  readonly #sleep: Sleep;
  readonly #waiting = new Set<Submission>();
  readonly #listeners: Disposable[] = [];
  #change = Promise.withResolvers<void>();
  #tending = false;
  #wake = new AbortController();

  /** @param startNext Has the server start the first of the queue, unless a turn runs. */
  constructor(
    caller: Pick<Caller, "request">,
    channel: ThreadChannel,
    startNext: () => Promise<void>,
    sleep: Sleep = sleepOnTimer,
  ) {
    this.#caller = caller;
    this.#channel = channel;
    this.#startNext = startNext;
    this.#sleep = sleep;
  }

  /** How many turns of this client wait in the queue. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when a turn begins or a queued one leaves. */
  get changed(): Promise<void> {
    return this.#change.promise;
  }

  /** Adds input to the queue. Resolves when it is in it; `turn` settles when it begins, or when it never will. */
  async add(request: QueueRequest): Promise<{ turn: Promise<LiveTurn> }> {
    const { input, clientUserMessageId, signal, cancelled } = request;
    const { threadId } = this.#channel;
    const awaited = this.#channel.turnOfMessage(clientUserMessageId);
    try {
      const params = { threadId, input, clientUserMessageId };
      const { queuedSubmission } = await this.#caller.request("thread/queue/add", params);
      const withoutTurn = Promise.withResolvers<LiveTurn>();
      withoutTurn.promise.catch(() => {}); // It may have begun.
      const submission: Submission = {
        id: queuedSubmission.id,
        awaited,
        withoutTurn,
        missingLooks: 0,
      };
      this.#enter(submission);
      return { turn: this.#follow(submission, signal, cancelled) };
    } catch (error) {
      awaited.stop();
      throw error;
    }
  }

  async #follow(
    submission: Submission,
    signal: AbortSignal | undefined,
    cancelled: AbortSignal,
  ): Promise<LiveTurn> {
    const settled = Promise.race([submission.awaited.turn, submission.withoutTurn.promise]);
    const stop = signal ? AbortSignal.any([signal, cancelled]) : cancelled;
    try {
      return await raceAbort(settled, stop, abortedError);
    } catch (error) {
      if (!stop.aborted) throw error;
      const isRemoved = await this.#remove(submission).catch((failure: unknown) => {
        // An aborted caller is gone already: should the input begin after all, it is interrupted.
        if (signal?.aborted) return false;
        throw failure;
      });
      if (!isRemoved) return await settled;
      if (signal?.aborted) throw abortedError(signal);
      return LiveTurn.interruptedBeforeStart(this.#channel.threadId);
    } finally {
      this.#leave(submission);
    }
  }

  /** False when it was no longer in the queue: it begins, or another client removed it. */
  async #remove({ id }: Submission): Promise<boolean> {
    const params = { threadId: this.#channel.threadId, queuedSubmissionId: id };
    const { deleted } = await this.#caller.request("thread/queue/delete", params);
    if (!deleted) this.#look();
    return deleted;
  }

  #enter(submission: Submission): void {
    this.#waiting.add(submission);
    if (this.#listeners.length === 0) {
      this.#listeners.push(
        this.#channel.onTurn((turn) => {
          this.#announce();
          void turn.ended.then(({ type }) => this.#look(type === "turn.interrupted"));
        }),
        this.#channel.onQueueChanged(() => this.#look()),
      );
      for (const turn of this.#channel.liveTurns) {
        void turn.ended.then(({ type }) => this.#look(type === "turn.interrupted"));
      }
    }
    // The turn ahead may have ended, and paused the queue, while the input was on its way.
    this.#look(this.#isStopped);
  }

  #leave(submission: Submission): void {
    submission.awaited.stop();
    this.#waiting.delete(submission);
    if (this.#waiting.size === 0) {
      for (const listener of this.#listeners.splice(0)) listener[Symbol.dispose]();
    }
    this.#announce();
  }

  #announce(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
    this.#wake.abort();
  }

  /** Something happened that may have stopped the queue. */
  #look(isPaused = false): void {
    if (this.#waiting.size === 0) return;
    if (isPaused) this.#wake.abort();
    void this.#tend(isPaused);
  }

  /** Starts the queue, and finds what left it without a turn, until nothing of this client waits or a turn runs. */
  async #tend(isPaused: boolean): Promise<void> {
    if (this.#tending) return;
    this.#tending = true;
    try {
      if (!isPaused) await this.#pause(QUEUE_LIMITS.drainGraceMs);
      for (let retryMs: number = QUEUE_LIMITS.retryMs; this.#isStopped;) {
        await this.#start();
        if (!this.#isStopped) return;
        await this.#pause(retryMs);
        retryMs = Math.min(retryMs * 2, QUEUE_LIMITS.longestRetryMs);
      }
    } finally {
      this.#tending = false;
    }
  }

  get #isStopped(): boolean {
    return this.#waiting.size > 0 && this.#channel.activeTurn === undefined;
  }

  async #start(): Promise<void> {
    try {
      await this.#startNext();
      await this.#settleMissing();
    } catch (error) {
      if (CodexError.is(error) && FATAL.has(error.code)) this.#failAll(error);
      // Otherwise busy, overloaded or frozen: tried again.
      else if (CodexError.is(error) && error.code === "turn_not_found") await this.#settleMissing();
    }
  }

  async #settleMissing(): Promise<void> {
    const { threadId } = this.#channel;
    const queued = await this.#queuedIds().catch((error: unknown) => {
      if (CodexError.is(error) && FATAL.has(error.code)) this.#failAll(error);
      return undefined;
    });
    if (!queued) return;
    for (const submission of this.#waiting) {
      const isMissing = !queued.has(submission.id) && !this.#channel.activeTurn;
      submission.missingLooks = isMissing ? submission.missingLooks + 1 : 0;
      if (submission.missingLooks === QUEUE_LIMITS.missingLooks) {
        submission.withoutTurn.resolve(LiveTurn.interruptedBeforeStart(threadId));
      }
    }
  }

  async #queuedIds(): Promise<Set<string>> {
    const { threadId } = this.#channel;
    const ids = new Set<string>();
    for (let cursor: string | null = null; ;) {
      const page: v2.ThreadQueueListResponse = await this.#caller.request("thread/queue/list", {
        threadId,
        cursor,
      });
      for (const { id } of page.data) ids.add(id);
      if (page.nextCursor === null) return ids;
      cursor = page.nextCursor;
    }
  }

  #failAll(error: CodexError): void {
    for (const { withoutTurn } of this.#waiting) withoutTurn.reject(error);
  }

  /** Ends early when a turn begins, a queued one leaves, or the queue is paused. */
  async #pause(ms: number): Promise<void> {
    this.#wake = new AbortController();
    await this.#sleep(ms, this.#wake.signal);
  }
}

/** Sleeps on a timer of this process. */
export async function sleepOnTimer(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
