import { collectGarbage } from "../../collect-garbage.ts";
import type { Contender } from "./contender.ts";
import { inSession, type SessionContext } from "./in-session.ts";
import { type Plan, runAll, startSeveral } from "./side-by-side.ts";

/**
 * Returns by how many MB the heap of this process has grown after the turns, with the session and its threads
 * still open.
 */
export function heapGrowth(
  contender: Contender,
  plan: Plan,
  sessionContext: SessionContext,
): Promise<{ readonly "heap growth": number }> {
  return inSession(contender, sessionContext, async (session) => {
    const threads = await startSeveral(session, plan.threads);
    const before = heapUsed();
    await runAll(threads, plan.turns);
    return { "heap growth": Math.max(0, heapUsed() - before) / 2 ** 20 };
  });
}

function heapUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
