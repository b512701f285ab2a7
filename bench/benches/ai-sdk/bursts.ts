import { setTimeout } from "node:timers/promises";

import { median } from "../../statistics.ts";
import { inSession, type SessionContext } from "../turns/in-session.ts";
import type { Effort } from "../turns/stopwatch.ts";
import type { Contender } from "./contender.ts";
import { askAtOnce, warmUp } from "./calls.ts";

/**
 * Long enough for everything that a provider prepared to expire: work done ahead must not slow down late
 * bursts.
 */
const BETWEEN_MS = 12_000;
const BURSTS = 3;

/** Several concurrent calls, with a long pause before each burst. Returns the median of the bursts. */
export function isolatedBursts(
  contender: Contender,
  calls: number,
  sessionContext: SessionContext,
): Promise<Effort> {
  return inSession(contender, sessionContext, async (provider) => {
    await warmUp(provider);
    const times: number[] = [];
    const cpu: number[] = [];
    for (let burst = 0; burst < BURSTS; burst += 1) {
      await setTimeout(BETWEEN_MS, undefined, { signal: sessionContext.signal });
      const effort = await askAtOnce(provider, calls, burst);
      times.push(effort.time);
      cpu.push(effort["client cpu"]);
    }
    return { time: median(times), "client cpu": median(cpu) };
  });
}
