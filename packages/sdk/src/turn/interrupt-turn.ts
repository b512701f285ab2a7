import { abortedError, CodexError } from "../errors.ts";
import type { LiveTurn } from "./live-turn.ts";
import { raceAbort } from "@codexkit/rpc/async";

/**
 * Has the server stop a turn; does nothing when it has ended. Codex answers `turn/start` some milliseconds before the turn is
 * active, and refuses to interrupt it until then: what was refused before the turn's start was heard is sent again after it.
 */
export async function interruptTurn(
  live: LiveTurn,
  send: (turnId: string) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  while (!live.end) {
    const wasStarted = live.isStarted;
    try {
      // Codex now and then leaves the interrupt of a turn that ends at the same moment unanswered.
      const sent = send(live.interruptId);
      sent.catch(() => {}); // It may fail after the turn has ended.
      await Promise.race([sent, live.ended]);
      return;
    } catch (error) {
      if (!(CodexError.is(error) && error.code === "turn_not_active")) throw error;
      // It ended by itself while the call was on its way; the word of that may still be on its way back.
      if (wasStarted) return;
      await raceAbort(live.started, signal, abortedError);
    }
  }
}
