import type { v2 } from "@codexkit/protocol";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";
import type { ThreadRouter } from "./thread-router.ts";
import type { OptionKeys } from "../options/reject-unknown-options.ts";
import type { LiveTurn } from "../turn/live-turn.ts";

export interface ReconcileTimes {
  /** The server says that a thread is idle a moment before it says how the turn ended. */
  readonly idleGraceMs: number;
  /** A turn that is silent for this long is asked after: a model may think longer, and then the answer is "it runs". */
  readonly quietMs: number;
  /** How often silent turns are looked for. */
  readonly checkEveryMs: number;
}

export const RECONCILE: OptionKeys<ReconcileTimes> = { idleGraceMs: true, quietMs: true, checkEveryMs: true };

export const RECONCILE_TIMES: ReconcileTimes = { idleGraceMs: 1_000, quietMs: 60_000, checkEveryMs: 15_000 };

/** Finds out how a turn ended when the server does not say: now and then a `turn/completed` is missing. */
export class TurnReconciler implements Disposable {
  readonly #caller: Caller;
  readonly #router: ThreadRouter;
  readonly #times: ReconcileTimes;
  readonly #hearing: Disposable;
  readonly #timer: NodeJS.Timeout;
  readonly #graces = new Set<NodeJS.Timeout>();
  readonly #asking = new Set<LiveTurn>();

  constructor(caller: Caller, router: ThreadRouter, times: ReconcileTimes = RECONCILE_TIMES) {
    this.#caller = caller;
    this.#router = router;
    this.#times = times;
    this.#hearing = caller.on("thread/status/changed", ({ threadId, status }) => {
      if (status?.type !== "active") this.#expectEnd(threadId);
    });
    this.#timer = setInterval(() => this.#askAfterSilent(), times.checkEveryMs);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    this.#hearing[Symbol.dispose]();
    clearInterval(this.#timer);
    for (const grace of this.#graces) clearTimeout(grace);
  }

  #expectEnd(threadId: string): void {
    const turns = this.#router.find(threadId)?.liveTurns ?? [];
    if (turns.length === 0) return;
    const grace = setTimeout(() => {
      this.#graces.delete(grace);
      for (const turn of turns) void this.#reconcile(turn, "said_idle");
    }, this.#times.idleGraceMs);
    grace.unref();
    this.#graces.add(grace);
    void Promise.all(turns.map(({ ended }) => ended)).then(() => {
      clearTimeout(grace);
      this.#graces.delete(grace);
    });
  }

  #askAfterSilent(): void {
    const before = Date.now() - this.#times.quietMs;
    for (const channel of this.#router.heldChannels()) {
      for (const turn of channel.liveTurns) {
        if (turn.lastHeardAt < before) void this.#reconcile(turn, "silent");
      }
    }
  }

  async #reconcile(turn: LiveTurn, why: "said_idle" | "silent"): Promise<void> {
    if (turn.end || this.#asking.has(turn)) return;
    this.#asking.add(turn);
    try {
      const stored = await this.#storedTurn(turn);
      if (turn.end) return;
      if (stored && stored.status !== "inProgress") {
        this.#router.route({
          method: "turn/completed",
          params: { threadId: turn.threadId, turn: stored },
        });
        return;
      }
      // Right after its thread became idle a turn may be stored a moment later; one silent for long is over.
      if (stored && why === "said_idle") return;
      if (await this.#isIdle(turn.threadId)) {
        const message = "The server calls the thread idle, but never said how this turn ended.";
        this.#router.fail(turn, new CodexError("turn_failed", message));
      }
    } catch {
      // The server can't be asked now: its end, or the next look, settles the turn.
    } finally {
      this.#asking.delete(turn);
    }
  }

  async #storedTurn({ threadId, turnId }: LiveTurn): Promise<v2.Turn | undefined> {
    const params = { threadId, limit: 5, sortDirection: "desc", itemsView: "summary" } as const;
    try {
      const { data } = await this.#caller.request("thread/turns/list", params);
      return data.find(({ id }) => id === turnId);
    } catch (error) {
      // An ephemeral thread has no stored turns, a deleted one has none any more.
      if (isRefusal(error)) return undefined;
      throw error;
    }
  }

  async #isIdle(threadId: string): Promise<boolean> {
    try {
      const { thread } = await this.#caller.request("thread/read", { threadId, includeTurns: false });
      return thread.status.type !== "active";
    } catch (error) {
      if (CodexError.is(error) && error.code === "thread_not_found") return true;
      throw error;
    }
  }
}

function isRefusal(error: unknown): boolean {
  return CodexError.is(error) && (error.code === "request_failed" || error.code === "thread_not_found");
}
