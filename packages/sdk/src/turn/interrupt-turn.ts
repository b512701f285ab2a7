import { abortedError, CodexError } from "../errors.ts";
import type { LiveTurn } from "./live-turn.ts";
import { raceAbort } from "@codexkit/rpc/async";

/**
 * Asks the server to stop a turn. No-op if it has ended. Codex responds to `turn/start` some milliseconds before the
 * turn is active and refuses to interrupt it until then, so a refused interrupt is sent again once the start is
 * reported.
 */
export async function interruptTurn(
  live: LiveTurn,
  send: (turnId: string) => Promise<unknown>,
  signal?: AbortSignal,
): Promise<void> {
  while (!live.end) {
    const wasStarted = live.isStarted;
    try {
      // Codex occasionally does not respond to the interrupt of a turn that ends at the same moment.
      const sent = send(live.interruptId);
      sent.catch(() => {}); // The call may fail after the turn has ended.
      await Promise.race([sent, live.ended]);
      return;
    } catch (error) {
      if (!(CodexError.is(error) && error.code === "turn_not_active")) throw error;
      // The turn ended while the call was in flight. The notification of its end may still be in flight.
      if (wasStarted) return;
      await raceAbort(live.started, signal, abortedError);
    }
  }
}
