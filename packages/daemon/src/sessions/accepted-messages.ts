import { CodexError, type Thread } from "codexkit";
import { BoundedMap, BoundedSet } from "@codexkit/rpc/async";
import { type HistoryFiles, readTurns } from "./read-turns.ts";

/** Number of messages, and of turns, to remember that were reported before `wait` was called. */
const EARLY = 1_000;

/** Number of turns of the history that are searched for a message. */
const SEARCHED_TURNS = 50;

interface Waiting extends PromiseWithResolvers<string | undefined> {
  readonly turnId: string;
}

/** Waits until messages are in their thread. Messages are identified by the ID that the daemon assigned. */
export class AcceptedMessages {
  readonly #waiting = new Map<string, Waiting>();
  readonly #early = new BoundedMap<string, string>(EARLY);
  /** Turns that ended before `wait` was called. */
  readonly #ended = new BoundedSet<string>(EARLY);

  /**
   * Resolves to the turn that contains the message, or to undefined if the turn ended without it. Rejects if the app-server is
   * lost.
   */
  async wait(messageId: string, turnId: string): Promise<string | undefined> {
    const early = this.#early.get(messageId);
    if (early !== undefined || this.#ended.has(turnId)) return early;
    const waiting: Waiting = { turnId, ...Promise.withResolvers<string | undefined>() };
    this.#waiting.set(messageId, waiting);
    try {
      return await waiting.promise;
    } finally {
      this.#waiting.delete(messageId);
    }
  }

  accept(messageId: string, turnId: string): void {
    this.#early.set(messageId, turnId);
    this.#waiting.get(messageId)?.resolve(turnId);
  }

  turnEnded(turnId: string): void {
    this.#ended.add(turnId);
    for (const waiting of this.#waiting.values()) if (waiting.turnId === turnId) waiting.resolve(undefined);
  }

  rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

/** Searches the newest turns of a thread for a message. Returns the ID of its turn. */
export async function findMessage(
  thread: Thread,
  messageId: string,
  files: HistoryFiles,
): Promise<string | undefined> {
  let searched = 0;
  try {
    for await (const turn of readTurns(thread, files, { limit: 10 })) {
      if (turn.items.some((item) => item.type === "userMessage" && item.clientId === messageId))
        return turn.id;
      searched += 1;
      if (searched === SEARCHED_TURNS) return undefined;
    }
  } catch (error) {
    // Codex refuses to list the history of a thread without messages.
    if (searched > 0 || !isRefused(error)) throw error;
  }
  return undefined;
}

/** Whether Codex refused the request, as opposed to not answering it. */
export function isRefused(error: unknown): boolean {
  return CodexError.is(error) && (error.code === "request_failed" || error.code === "thread_not_found");
}
