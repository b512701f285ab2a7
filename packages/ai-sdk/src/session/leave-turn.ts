import { limits } from "../limits.ts";
import { isTurnEnd } from "../stream/is-turn-end.ts";
import type { AskDesk } from "./ask-desk.ts";
import type { TurnRun } from "./turn-run.ts";

/**
 * Ends a turn that nobody comes back to: refuses what it asked, and stops it once Codex has taken that down. An interrupt that
 * overtakes the refusal would leave the model without a word of why its call came to nothing.
 */
export async function leaveTurn(run: TurnRun, desk: AskDesk, reason: string): Promise<void> {
  const refused = new Set(desk.refuseAll(reason));
  const limit = setTimeout(() => run.interrupt(), limits.interruptMs);
  try {
    while (refused.size > 0) {
      const next = await run.next();
      if (next.type === "over" || (next.type === "event" && isTurnEnd(next.event))) return;
      if (next.type === "asks") desk.refuseAll(reason);
      else if (next.event.type === "item.completed") refused.delete(next.event.item.id);
    }
  } finally {
    clearTimeout(limit);
    run.interrupt();
  }
}
