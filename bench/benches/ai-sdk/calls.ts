import { median } from "../../statistics.ts";
import { inSession, type SessionContext } from "../turns/in-session.ts";
import { timed, type Effort } from "../turns/stopwatch.ts";
import type { Contender, Provider } from "./contender.ts";
import { checkAnswer, question, type Question } from "./script.ts";

/**
 * One call of several sequential ones. Returns the median, because other processes slow some of them down
 * considerably.
 */
export function oneByOne(
  contender: Contender,
  calls: number,
  kind: Question,
  sessionContext: SessionContext,
): Promise<Effort> {
  return inSession(contender, sessionContext, async (provider) => {
    await warmUp(provider);
    const times: number[] = [];
    const all = await timed(async () => {
      for (let call = 0; call < calls; call += 1) {
        const { time } = await timed(() => ask(provider, kind, call));
        times.push(time);
      }
    });
    return { time: median(times), "client cpu": all["client cpu"] / calls };
  });
}

/** Number of batches per sample. Their time, most of it codex's own, varies more than what is compared. */
const BATCHES = 5;

/** Several concurrent calls, until the last one has its answer. Returns the median of several batches. */
export function allAtOnce(
  contender: Contender,
  calls: number,
  sessionContext: SessionContext,
): Promise<Effort> {
  return inSession(contender, sessionContext, async (provider) => {
    await warmUp(provider);
    const times: number[] = [];
    const all = await timed(async () => {
      for (let batch = 0; batch < BATCHES; batch += 1) {
        const { time } = await askAtOnce(provider, calls, batch);
        times.push(time);
      }
    });
    return { time: median(times), "client cpu": all["client cpu"] / BATCHES };
  });
}

/**
 * The first calls start the process and create its files. A contestant that starts it lazily pays for it
 * here, as all do.
 */
export async function warmUp(provider: Provider): Promise<void> {
  for (let call = 0; call < 2; call += 1) await ask(provider, "at once", call);
}

/** Asks the questions of one batch at once, and measures the time until the last answer. */
export function askAtOnce(provider: Provider, calls: number, batch: number): Promise<Effort> {
  const asked = Array.from({ length: calls }, (_, call) => batch * calls + call);
  return timed(() => Promise.all(asked.map((call) => ask(provider, "slowly", call))));
}

async function ask(provider: Provider, kind: Question, call: number): Promise<void> {
  checkAnswer(kind, call, await provider.generate(question(kind, call)));
}
