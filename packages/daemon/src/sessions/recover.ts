import type { Thread, v2 } from "codexkit";
import type { NewSessionEvent, StoredTurnResult } from "../api/event.ts";
import { createProblem } from "../api/problem.ts";
import type { ItemRow, TurnRow } from "../database/tables.ts";
import { emptyTurnResult } from "../journal/empty-turn-result.ts";
import type { Journal } from "../journal/journal.ts";
import { isRefused } from "./accepted-messages.ts";
import { withItemId } from "./item-id.ts";
import { type HistoryFiles, readTurns } from "./read-turns.ts";

/** Maximum number of turns of the history that are compared with the journal. */
export const TURNS = 200;

export interface Recovery {
  /** Whether the journal had no turn, so that the turns are older than the session. */
  readonly isHistory: boolean;
  readonly events: readonly NewSessionEvent[];
  /** Items and turns whose end is in the journal once `events` are stored. */
  readonly itemIds: readonly string[];
  readonly turnIds: readonly string[];
  /** The turn that is still running. */
  readonly runningTurnId: string | undefined;
  /** The turn that was cut off when its process ended, or that may have been interrupted by a person. */
  readonly cutTurn: CutTurn | undefined;
}

export interface CutTurn {
  readonly id: string;
  /** The message that started it. Set if the journal does not have the turn, so that it may have ended in any way. */
  readonly messageId?: string;
}

/**
 * Compares the history of a thread with the journal, and returns the events that are missing in the journal, marked as recovered.
 * Running turns and items without an end in the history end as failed or abandoned, unless the thread is still busy.
 */
export async function recoverThread(
  sessionId: string,
  thread: Thread,
  {
    journal,
    files,
    reason,
    isParked = false,
    isNodeLost = false,
    activeTurnId,
    storeOlder,
  }: {
    journal: Journal;
    files: HistoryFiles;
    reason: string;
    isParked?: boolean;
    /** Whether the node that had the thread was lost. */
    isNodeLost?: boolean;
    /** The turn that was running when the session was last stored. */
    activeTurnId?: string | undefined;
    /** Stores the older turns of a history that is too long to be held in memory. */
    storeOlder?: () => Promise<void>;
  },
): Promise<Recovery> {
  // Checked before and after the history is read. A turn that ends in the meantime is still running in the history, and its end
  // arrives as an event.
  const wasBusy = thread.busy;
  const known = await knownTurns(journal, sessionId);
  const running = await journal.runningItems(sessionId);
  const missing = await missingTurns(thread, known, files);
  if (missing.length === TURNS) await storeOlder?.();
  const merge = new Merge(thread.id, {
    running,
    known,
    isBusy: wasBusy || thread.busy,
    isParked,
    isNodeLost,
    activeTurnId,
  });
  for (const turn of missing) {
    merge.addTurn(turn, await journaledItems(journal, sessionId, turn.id));
  }
  merge.endTheRest();
  return merge.finish(reason);
}

/**
 * Returns the events that end the running turns and items of the journal, for a session whose thread was lost before any of it was
 * stored. Its message is sent again in a new thread.
 */
export async function endLostTurns(
  { sessionId, threadId }: { readonly sessionId: string; readonly threadId: string },
  { journal, reason, isNodeLost }: { journal: Journal; reason: string; isNodeLost: boolean },
): Promise<readonly NewSessionEvent[]> {
  const known = await knownTurns(journal, sessionId);
  const running = await journal.runningItems(sessionId);
  const merge = new Merge(threadId, { running, known, isBusy: false, isParked: false, isNodeLost });
  merge.endTheRest();
  return merge.finish(reason).events;
}

/** Returns the newest turns of the journal by ID. */
export async function knownTurns(journal: Journal, sessionId: string): Promise<ReadonlyMap<string, TurnRow>> {
  const { rows } = await journal.turns(sessionId, { limit: TURNS });
  return new Map(rows.map((row) => [row.turn_id, row]));
}

/** Returns the turns of the history that have not ended in the journal, oldest first. */
async function missingTurns(
  thread: Thread,
  known: ReadonlyMap<string, TurnRow>,
  files: HistoryFiles,
): Promise<v2.Turn[]> {
  const missing: v2.Turn[] = [];
  const hasEnded = (turnId: string): boolean => (known.get(turnId)?.status ?? "running") !== "running";
  const isNeeded = (turnId: string): boolean => !hasEnded(turnId) && missing.length < TURNS;
  try {
    for await (const turn of readTurns(thread, files, { limit: 20, isNeeded })) {
      if (!isNeeded(turn.id)) break;
      missing.unshift(turn);
    }
  } catch (error) {
    // Codex refuses to list the history of a thread without messages.
    if (known.size > 0 || missing.length > 0 || !isRefused(error)) throw error;
  }
  return missing;
}

async function journaledItems(
  journal: Journal,
  sessionId: string,
  turnId: string,
): Promise<ReadonlyMap<string, ItemRow>> {
  const rows = await journal.items(sessionId, { turnId, limit: 1_000 });
  return new Map(rows.map((row) => [row.item_id, row]));
}

/** Collects the events of a recovery. */
export class Merge {
  readonly #threadId: string;
  readonly #running: readonly ItemRow[];
  readonly #known: ReadonlyMap<string, TurnRow>;
  readonly #isBusy: boolean;
  /** Whether requests of the running turns are parked. Then the turns end as interrupted, not as failed. */
  readonly #isParked: boolean;
  /** Whether the node that ran the process was lost. */
  readonly #isNodeLost: boolean;
  readonly #activeTurnId: string | undefined;
  readonly #events: NewSessionEvent[] = [];
  readonly #itemIds: string[] = [];
  readonly #turnIds: string[] = [];
  #runningTurnId: string | undefined;
  #cutTurn: CutTurn | undefined;

  constructor(
    threadId: string,
    state: {
      readonly running: readonly ItemRow[];
      readonly known: ReadonlyMap<string, TurnRow>;
      readonly isBusy: boolean;
      readonly isParked: boolean;
      readonly isNodeLost?: boolean;
      /** The turn that was running when the session was last stored. */
      readonly activeTurnId?: string | undefined;
    },
  ) {
    this.#threadId = threadId;
    this.#running = state.running;
    this.#known = state.known;
    this.#isBusy = state.isBusy;
    this.#isParked = state.isParked;
    this.#isNodeLost = state.isNodeLost === true;
    this.#activeTurnId = state.activeTurnId;
  }

  addTurn(turn: v2.Turn, journaled: ReadonlyMap<string, ItemRow>): void {
    const ids = { threadId: this.#threadId, turnId: turn.id };
    if (!this.#known.has(turn.id)) this.#push({ type: "turn.started", ...ids });
    for (const item of turn.items.map(withItemId)) {
      const row = journaled.get(item.id);
      if (row && row.status !== "running") continue;
      if ("status" in item && item.status === "inProgress") {
        if (!row) this.#push({ type: "item.started", ...ids, item });
        continue;
      }
      this.#push({ type: "item.completed", ...ids, item });
      this.#itemIds.push(item.id);
    }
    if (turn.status === "inProgress" && this.#isBusy) {
      this.#runningTurnId = turn.id;
      return;
    }
    const isKnown = this.#known.has(turn.id);
    this.#endItems(turn.id);
    this.#turnIds.push(turn.id);
    const result = resultOf(this.#threadId, turn);
    if (turn.status === "completed") {
      this.#push({ type: "turn.completed", ...ids, result });
    } else if (turn.status === "failed") {
      const problem = createProblem("codex_failed", turn.error?.message ?? "The turn failed.");
      this.#push({ type: "turn.failed", ...ids, result: { ...result, status: "failed" }, problem });
    } else if (isKnown) {
      this.#fail(turn.id, result);
    } else {
      this.#push({ type: "turn.interrupted", ...ids, result: { ...result, status: "interrupted" } });
      const messageId = turn.items.find((item) => item.type === "userMessage")?.clientId ?? undefined;
      if (messageId !== undefined && !this.#isParked) this.#cutTurn = { id: turn.id, messageId };
      return;
    }
    // The thread has continued since.
    if (this.#cutTurn?.messageId !== undefined) this.#cutTurn = undefined;
  }

  /**
   * Ends turns that are running in the journal and missing in the history, because they belong to agents or were not stored in
   * time.
   */
  endTheRest(): void {
    for (const { turn_id: turnId, thread_id: threadId, status } of this.#known.values()) {
      if (status !== "running" || turnId === this.#runningTurnId || this.#turnIds.includes(turnId)) continue;
      // An agent's turn continues while the root's turn does.
      if (this.#isBusy && threadId !== this.#threadId) continue;
      this.#endItems(turnId);
      this.#turnIds.push(turnId);
      this.#fail(turnId, emptyTurnResult(threadId, turnId, "failed"), threadId);
    }
    const turnId = this.#activeTurnId;
    // Its node may have been lost before Codex had written anything of the turn.
    if (turnId === undefined || this.#isBusy || this.#known.has(turnId) || this.#turnIds.includes(turnId))
      return;
    this.#turnIds.push(turnId);
    this.#push({ type: "turn.started", threadId: this.#threadId, turnId });
    this.#fail(turnId, emptyTurnResult(this.#threadId, turnId, "failed"));
  }

  finish(reason: string): Recovery {
    const recovered = this.#events.filter(({ type }) => type !== "item.abandoned").length;
    const head: NewSessionEvent[] =
      recovered === 0 ? [] : [{ type: "recovered", items: this.#itemIds.length, reason }];
    return {
      isHistory: this.#known.size === 0,
      events: [...head, ...this.#events],
      itemIds: this.#itemIds,
      turnIds: this.#turnIds,
      runningTurnId: this.#runningTurnId,
      cutTurn: this.#cutTurn,
    };
  }

  /** Ends the items of an ended turn that have no end. */
  #endItems(turnId: string): void {
    for (const { item_id: itemId, turn_id } of this.#running) {
      if (turn_id !== turnId || this.#itemIds.includes(itemId)) continue;
      this.#events.push({ type: "item.abandoned", itemId, turnId });
      this.#itemIds.push(itemId);
    }
  }

  #fail(turnId: string, result: StoredTurnResult, threadId = this.#threadId): void {
    if (this.#isParked) {
      const interrupted: StoredTurnResult = { ...result, status: "interrupted" };
      this.#push({ type: "turn.interrupted", threadId, turnId, result: interrupted });
      return;
    }
    if (threadId === this.#threadId) this.#cutTurn = { id: turnId };
    const what = this.#isNodeLost ? "node of the session was lost" : "app-server ended";
    const detail = `The ${what} during this turn. Its thread was resumed, and takes further messages.`;
    const problem = createProblem(
      "codex_failed",
      detail,
      this.#isNodeLost ? { code: "node_lost", reason: "node_lost" } : { code: "app_server_crashed" },
    );
    const failed: StoredTurnResult = { ...result, status: "failed" };
    this.#push({ type: "turn.failed", threadId, turnId, result: failed, problem });
  }

  #push(event: NewSessionEvent): void {
    this.#events.push({ ...event, recovered: true });
  }
}

function resultOf(threadId: string, { id, items, status, durationMs }: v2.Turn): StoredTurnResult {
  const last = items.findLast((item) => item.type === "agentMessage");
  return {
    ...emptyTurnResult(threadId, id, status === "inProgress" ? "interrupted" : status),
    finalResponse: last?.text ?? "",
    durationMs,
  };
}
