import type { Contender } from "./contender.ts";
import { inSession, type SessionContext } from "./in-session.ts";
import { startWarm } from "./short-turn.ts";
import { timed, type Effort } from "./stopwatch.ts";

/**
 * Starts many threads at once on one codex and runs one turn on each. Returns how many completed it, and the
 * time.
 */
export function crowd(
  contender: Contender,
  threads: number,
  sessionContext: SessionContext,
): Promise<Effort & { readonly completed: number }> {
  return inSession(contender, sessionContext, async (session) => {
    const failures: unknown[] = [];
    const one = async (): Promise<void> => {
      try {
        await startWarm(session);
      } catch (error) {
        failures.push(error);
      }
    };
    const effort = await timed(() => Promise.all(Array.from({ length: threads }, one)));
    if (failures.length > 0) console.error(`${failures.length} of ${threads} threads failed:`, failures[0]);
    return { ...effort, completed: threads - failures.length };
  });
}
