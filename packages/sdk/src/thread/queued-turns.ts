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
  /** Removes the input from the queue. The turn then rejects with `aborted`. */
  readonly signal: AbortSignal | undefined;
  /** Removes the input from the queue. The turn then ends as interrupted. */
  readonly cancelled: AbortSignal;
}

/** Waits. Resolves early if the signal aborts. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

const QUEUE_LIMITS = {
  /** Codex starts queued input within milliseconds of a completed or failed turn. After this time, it is asked to do so. */
  drainGraceMs: 1_000,
  /** Delay before starting the queue is retried; doubled each time. */
  retryMs: 500,
  longestRetryMs: 15_000,
  /**
   * Input that has left the queue becomes a turn within milliseconds. If it is found in neither this many times,
   * `retryMs` apart, another client removed it.
   */
  missingChecks: 3,
} as const;

/** Errors after which this client can't start anything from the queue. */
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
  /** Settles the turn without a start: another client removed it, or the queue can't be started. */
  readonly withoutTurn: PromiseWithResolvers<LiveTurn>;
  /** Consecutive checks that found it neither in the queue nor in a turn. */
  missingChecks: number;
}

/**
 * Turns of this client in Codex's queue. Codex starts them after a completed or failed turn, but pauses its queue
 * after an interrupt, and does not report input that another client removes. This class restarts a paused queue and
 * detects removed input, so that every queued turn settles.
 */
export class QueuedTurns {
  readonly #caller: Pick<Caller, "request">;
  readonly #channel: ThreadChannel;
  readonly #startNext: () => Promise<void>;
  readonly #sleep: Sleep;
  readonly #waiting = new Set<Submission>();
  readonly #listeners: Disposable[] = [];
  #change = Promise.withResolvers<void>();
  #isKeepingRunning = false;
  #wake = new AbortController();

  /** @param startNext Asks the server to start the first entry, unless a turn is running. */
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

  /** Number of queued turns of this client. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Resolves when a turn starts or a queued one leaves the queue. */
  get changed(): Promise<void> {
    return this.#change.promise;
  }

  /** Adds input to the queue. Resolves once it is queued; `turn` settles when it starts, or when it never will. */
  async add(request: QueueRequest): Promise<{ turn: Promise<LiveTurn> }> {
    const { input, clientUserMessageId, signal, cancelled } = request;
    const { threadId } = this.#channel;
    const awaited = this.#channel.turnOfMessage(clientUserMessageId);
    try {
      const params = { threadId, input, clientUserMessageId };
      const { queuedSubmission } = await this.#caller.request("thread/queue/add", params);
      const withoutTurn = Promise.withResolvers<LiveTurn>();
      withoutTurn.promise.catch(() => {}); // The turn may have started.
      const submission: Submission = {
        id: queuedSubmission.id,
        awaited,
        withoutTurn,
        missingChecks: 0,
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
        // The caller has already been rejected. If the input starts after all, it is interrupted.
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

  /** Returns false if it was no longer queued: it is starting, or another client removed it. */
  async #remove({ id }: Submission): Promise<boolean> {
    const params = { threadId: this.#channel.threadId, queuedSubmissionId: id };
    const { deleted } = await this.#caller.request("thread/queue/delete", params);
    if (!deleted) this.#check();
    return deleted;
  }

  #enter(submission: Submission): void {
    this.#waiting.add(submission);
    if (this.#listeners.length === 0) {
      this.#listeners.push(
        this.#channel.onTurn((turn) => {
          this.#notifyChange();
          void turn.ended.then(({ type }) => this.#check(type === "turn.interrupted"));
        }),
        this.#channel.onQueueChanged(() => this.#check()),
      );
      for (const turn of this.#channel.liveTurns) {
        void turn.ended.then(({ type }) => this.#check(type === "turn.interrupted"));
      }
    }
    // The previous turn may have ended, and paused the queue, while the input was in flight.
    this.#check(this.#isStopped);
  }

  #leave(submission: Submission): void {
    submission.awaited.stop();
    this.#waiting.delete(submission);
    if (this.#waiting.size === 0) {
      for (const listener of this.#listeners.splice(0)) listener[Symbol.dispose]();
    }
    this.#notifyChange();
  }

  #notifyChange(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
    this.#wake.abort();
  }

  /** Called after anything that may have paused the queue. */
  #check(isPaused = false): void {
    if (this.#waiting.size === 0) return;
    if (isPaused) this.#wake.abort();
    void this.#keepRunning(isPaused);
  }

  /** Restarts the queue and detects removed input, until no turn of this client is queued or a turn is running. */
  async #keepRunning(isPaused: boolean): Promise<void> {
    if (this.#isKeepingRunning) return;
    this.#isKeepingRunning = true;
    try {
      if (!isPaused) await this.#pause(QUEUE_LIMITS.drainGraceMs);
      for (let retryMs: number = QUEUE_LIMITS.retryMs; this.#isStopped;) {
        await this.#start();
        if (!this.#isStopped) return;
        await this.#pause(retryMs);
        retryMs = Math.min(retryMs * 2, QUEUE_LIMITS.longestRetryMs);
      }
    } finally {
      this.#isKeepingRunning = false;
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
      // Otherwise busy, overloaded or frozen: retried.
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
      submission.missingChecks = isMissing ? submission.missingChecks + 1 : 0;
      if (submission.missingChecks === QUEUE_LIMITS.missingChecks) {
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

  /** Returns early if a turn starts, a queued one leaves, or the queue is paused. */
  async #pause(ms: number): Promise<void> {
    this.#wake = new AbortController();
    await this.#sleep(ms, this.#wake.signal);
  }
}

/** Waits with a timer of this process. */
export async function sleepOnTimer(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
