import { inSession, type SessionContext } from "./in-session.ts";
import type { Contender, Session } from "./contender.ts";
import { startWarm } from "./short-turn.ts";

/** Returns the milliseconds from the start of everything to the end of the first turn. */
export async function firstTurn(contender: Contender, sessionContext: SessionContext): Promise<number> {
  let began = 0;
  const timedFromStart: Contender = {
    open(home): Promise<Session> {
      began = performance.now();
      return contender.open(home);
    },
  };
  return inSession(timedFromStart, sessionContext, async (session) => {
    await startWarm(session);
    return performance.now() - began;
  });
}
