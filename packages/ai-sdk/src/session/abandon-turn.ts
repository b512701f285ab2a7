import { isTurnEnd } from "codexkit";
import { AI_SDK_LIMITS } from "../limits.ts";
import type { ClientRequestBroker } from "../requests/client-request-broker.ts";
import type { TurnRun } from "./turn-run.ts";

/**
 * Ends a turn whose client does not return. Rejects its requests first, and interrupts it once Codex has recorded the rejections:
 * with an earlier interrupt, the model would not learn why its call failed.
 */
export async function abandonTurn(run: TurnRun, broker: ClientRequestBroker, reason: string): Promise<void> {
  const refused = new Set(broker.rejectAll(reason));
  const limit = setTimeout(() => run.interrupt(), AI_SDK_LIMITS.interruptMs);
  try {
    while (refused.size > 0) {
      const next = await run.next();
      if (next.type === "over" || (next.type === "event" && isTurnEnd(next.event))) return;
      if (next.type === "requests") broker.rejectAll(reason);
      else if (next.event.type === "item.completed") refused.delete(next.event.item.id);
    }
  } finally {
    clearTimeout(limit);
    run.interrupt();
  }
}
