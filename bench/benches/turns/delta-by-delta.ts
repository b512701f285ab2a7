import type { AppServerContender } from "./contender.ts";
import { inSession, type SessionContext } from "./in-session.ts";
import { checkResponse } from "./script.ts";
import { startWarm } from "./short-turn.ts";
import { divided, timed, type Effort } from "./stopwatch.ts";

/** One turn with many deltas, each of which is read. The `warmUp` turns before it are not measured. */
export function deltaByDelta(
  contender: AppServerContender,
  turns: number,
  sessionContext: SessionContext,
  { warmUp = 0 }: { readonly warmUp?: number } = {},
): Promise<Effort> {
  return inSession(contender, sessionContext, async (session) => {
    const thread = await startWarm(session);
    for (let turn = 0; turn < warmUp; turn += 1) checkResponse("stream", await thread.stream("stream"));
    const all = await timed(async () => {
      for (let turn = 0; turn < turns; turn += 1) checkResponse("stream", await thread.stream("stream"));
    });
    return divided(all, turns);
  });
}
