import { median } from "../../statistics.ts";
import type { Contender } from "./contender.ts";
import { inSession, type SessionContext } from "./in-session.ts";
import { shortTurn, startWarm } from "./short-turn.ts";
import { timed, type Effort } from "./stopwatch.ts";

/**
 * One of many sequential turns on a warm thread. The time is their median, because other processes slow some
 * turns down considerably, and the fewer turns a contestant takes, the more chance decides how many. The
 * processor time is the mean, because its clock is too coarse for a single turn.
 */
export function oneByOne(
  contender: Contender,
  turns: number,
  sessionContext: SessionContext,
): Promise<Effort> {
  return inSession(contender, sessionContext, async (session) => {
    const thread = await startWarm(session);
    const times: number[] = [];
    const all = await timed(async () => {
      for (let turn = 0; turn < turns; turn += 1) {
        const { time } = await timed(() => shortTurn(thread));
        times.push(time);
      }
    });
    return { time: median(times), "client cpu": all["client cpu"] / turns };
  });
}
