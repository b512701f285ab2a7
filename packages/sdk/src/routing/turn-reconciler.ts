import type { v2 } from "@codexkit/protocol";
import type { Caller } from "../connection/caller.ts";
import { CodexError } from "../errors.ts";
import type { ThreadRouter } from "./thread-router.ts";
import type { OptionKeys } from "../options/reject-unknown-options.ts";
import type { LiveTurn } from "../turn/live-turn.ts";

export interface ReconcileTimes {
  /** How long to wait for the end of a turn after its thread became idle, which the server reports first. */
  readonly idleGraceMs: number;
  /** Time without notifications after which the server is asked about a turn. A model that thinks longer is not affected. */
  readonly quietMs: number;
  /** Interval of the check for silent turns. */
  readonly checkIntervalMs: number;
}

export const RECONCILE: OptionKeys<ReconcileTimes> = {
  idleGraceMs: true,
  quietMs: true,
  checkIntervalMs: true,
};

export const RECONCILE_TIMES: ReconcileTimes = {
  idleGraceMs: 1_000,
  quietMs: 60_000,
  checkIntervalMs: 15_000,
};

/** Asks the server how a turn ended if no notification says so: occasionally, a `turn/completed` is missing. */
export class TurnReconciler implements Disposable {
  readonly #caller: Caller;
  readonly #router: ThreadRouter;
  readonly #times: ReconcileTimes;
  readonly #subscription: Disposable;
  readonly #timer: NodeJS.Timeout;
  readonly #graces = new Set<NodeJS.Timeout>();
  readonly #pending = new Set<LiveTurn>();

  constructor(caller: Caller, router: ThreadRouter, times: ReconcileTimes = RECONCILE_TIMES) {
    this.#caller = caller;
    this.#router = router;
    this.#times = times;
    this.#subscription = caller.on("thread/status/changed", ({ threadId, status }) => {
      if (status?.type !== "active") this.#expectEnd(threadId);
    });
    this.#timer = setInterval(() => this.#checkSilentTurns(), times.checkIntervalMs);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    this.#subscription[Symbol.dispose]();
    clearInterval(this.#timer);
    for (const grace of this.#graces) clearTimeout(grace);
  }

  #expectEnd(threadId: string): void {
    const turns = this.#router.find(threadId)?.liveTurns ?? [];
    if (turns.length === 0) return;
    const grace = setTimeout(() => {
      this.#graces.delete(grace);
      for (const turn of turns) void this.#reconcile(turn, "idle");
    }, this.#times.idleGraceMs);
    grace.unref();
    this.#graces.add(grace);
    void Promise.all(turns.map(({ ended }) => ended)).then(() => {
      clearTimeout(grace);
      this.#graces.delete(grace);
    });
  }

  #checkSilentTurns(): void {
    const before = Date.now() - this.#times.quietMs;
    for (const channel of this.#router.heldChannels()) {
      for (const turn of channel.liveTurns) {
        if (turn.lastNotificationAt < before) void this.#reconcile(turn, "silent");
      }
    }
  }

  async #reconcile(turn: LiveTurn, why: "idle" | "silent"): Promise<void> {
    if (turn.end || this.#pending.has(turn)) return;
    this.#pending.add(turn);
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
      // A turn may be stored only shortly after its thread became idle. One that was silent for long has ended.
      if (stored && why === "idle") return;
      if (await this.#isIdle(turn.threadId)) {
        const message = "The server reports the thread as idle, but never reported how this turn ended.";
        this.#router.fail(turn, new CodexError("turn_failed", message));
      }
    } catch {
      // The server is unreachable. Its end, or the next check, settles the turn.
    } finally {
      this.#pending.delete(turn);
    }
  }

  async #storedTurn({ threadId, turnId }: LiveTurn): Promise<v2.Turn | undefined> {
    const params = { threadId, limit: 5, sortDirection: "desc", itemsView: "summary" } as const;
    try {
      const { data } = await this.#caller.request("thread/turns/list", params);
      return data.find(({ id }) => id === turnId);
    } catch (error) {
      // Ephemeral and deleted threads have no stored turns.
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
