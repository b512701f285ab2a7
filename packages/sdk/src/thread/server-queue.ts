import type { CallOptions } from "@codexkit/rpc";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";
import type { ThreadChannel } from "../routing/thread-channel.ts";
import type { Sleep } from "./queued-turns.ts";

/** Codex starts queued input within milliseconds of a turn's end or a resume. After this time its queue is paused. */
const START_GRACE_MS = 1_000;

/**
 * Input in Codex's queue that this client does not wait for: of other clients, or left by a server that died. Codex
 * starts it without notice, and a turn that is started at the same moment would be merged into it.
 */
export class ServerQueue {
  readonly #caller: Pick<Caller, "request">;
  readonly #channel: ThreadChannel;
  readonly #sleep: Sleep;
  /** Whether no turn started in time. Codex then starts nothing on its own until the next turn ends or the queue changes. */
  #isPaused = false;

  constructor(caller: Pick<Caller, "request">, channel: ThreadChannel, sleep: Sleep) {
    this.#caller = caller;
    this.#channel = channel;
    this.#sleep = sleep;
    channel.onTurn(() => (this.#isPaused = false));
    channel.onQueueChanged(() => (this.#isPaused = false));
  }

  /**
   * Waits until queued input that is about to run has become a turn, or until it is clear that Codex starts nothing.
   */
  async settled(): Promise<void> {
    const before = this.#channel.queueState;
    if (before === "empty" || this.#isPaused) return;
    const next = this.#channel.nextTurn();
    const wake = new AbortController();
    try {
      const holdsInput = await hasQueuedInput(this.#caller, this.#channel.threadId);
      this.#channel.queueState = holdsInput ? "held" : "empty";
      // Input that has left the queue since it was last listed may also be about to start.
      if (this.#channel.activeTurn || (!holdsInput && before === "changed")) return;
      await Promise.race([next.turn, this.#sleep(START_GRACE_MS, wake.signal)]);
      this.#isPaused = holdsInput && this.#channel.activeTurn === undefined;
    } finally {
      next.stop();
      wake.abort();
    }
  }
}

/** Whether the queue of a thread, loaded or not, holds input. */
export async function hasQueuedInput(
  caller: Pick<Caller, "request">,
  threadId: string,
  call: CallOptions = {},
): Promise<boolean> {
  try {
    const { data } = await caller.request("thread/queue/list", { threadId, limit: 1 }, call);
    return data.length > 0;
  } catch (error) {
    if (CodexError.is(error) && WITHOUT_QUEUE.has(error.code)) return false;
    throw error;
  }
}

/** Error codes without the experimental API, for an ephemeral thread, and for an unknown thread. */
const WITHOUT_QUEUE: ReadonlySet<string> = new Set([
  "request_failed",
  "invalid_argument",
  "thread_not_found",
]);
