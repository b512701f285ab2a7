import type { AppServerContender } from "./contender.ts";
import { inSession, type SessionContext } from "./in-session.ts";
import { checkResponse } from "./script.ts";
import { startWarm } from "./short-turn.ts";
import { divided, timed, type Effort } from "./stopwatch.ts";

/** One turn of so many that are made of deltas, each of which is taken. */
export function deltaByDelta(
  contender: AppServerContender,
  turns: number,
  sessionContext: SessionContext,
): Promise<Effort> {
  return inSession(contender, sessionContext, async (session) => {
    const thread = await startWarm(session);
    const all = await timed(async () => {
      for (let turn = 0; turn < turns; turn += 1) checkResponse("stream", await thread.stream("stream"));
    });
    return divided(all, turns);
  });
}
