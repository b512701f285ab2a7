import { median } from "../../statistics.ts";
import type { Contender } from "./contender.ts";
import { inSession, type SessionContext } from "./in-session.ts";
import { shortTurn, startWarm } from "./short-turn.ts";
import { timed, type Effort } from "./stopwatch.ts";

/**
 * One turn of many, one after the other on a warm thread. The time is their median: what else runs on the machine
 * lengthens some of them a lot, and the fewer turns a contestant takes, the more chance decides how many. The processor
 * is the mean: its clock is too coarse for a single turn.
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
