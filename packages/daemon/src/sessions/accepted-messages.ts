import { CodexError, type Thread } from "codexkit";
import { BoundedMap } from "@codexkit/rpc/async";

/** Messages whose item was reported before their sender waited for it. */
const EARLY = 1_000;

/** Turns of the history that are searched for a message. */
const SEARCHED_TURNS = 50;

interface Waiting extends PromiseWithResolvers<string | undefined> {
  readonly turnId: string;
}

/** Waits until messages are in their thread, by the ID that the daemon has given them. */
export class AcceptedMessages {
  readonly #waiting = new Map<string, Waiting>();
  readonly #early = new BoundedMap<string, string>(EARLY);

  /** Resolves to the turn that has the message, or to undefined if the turn ended without it. Rejects if Codex is lost. */
  async wait(messageId: string, turnId: string): Promise<string | undefined> {
    const early = this.#early.get(messageId);
    if (early !== undefined) return early;
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
    for (const waiting of this.#waiting.values()) if (waiting.turnId === turnId) waiting.resolve(undefined);
  }

  rejectAll(error: Error): void {
    for (const { reject } of this.#waiting.values()) reject(error);
  }
}

/** Looks for a message in the newest turns of a thread. Returns its turn. */
export async function findMessage(thread: Thread, messageId: string): Promise<string | undefined> {
  let searched = 0;
  try {
    for await (const turn of thread.history.turns({ itemsView: "full", limit: 10 })) {
      if (turn.items.some((item) => item.type === "userMessage" && item.clientId === messageId))
        return turn.id;
      searched += 1;
      if (searched === SEARCHED_TURNS) return undefined;
    }
  } catch (error) {
    // A thread that has no message yet has no history either.
    if (searched > 0 || !isRefused(error)) throw error;
  }
  return undefined;
}

/** Whether Codex has answered that it can't, in contrast to not answering. */
export function isRefused(error: unknown): boolean {
  return CodexError.is(error) && (error.code === "request_failed" || error.code === "thread_not_found");
}
