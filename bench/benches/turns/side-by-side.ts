import type { Contender, Conversation, Session } from "./contender.ts";
import { inSession, type SessionContext } from "./in-session.ts";
import { shortTurn, startWarm } from "./short-turn.ts";
import { divided, timed, type Effort } from "./stopwatch.ts";

export interface Plan {
  readonly threads: number;
  /** Number of sequential turns per thread. */
  readonly turns: number;
}

/** One of many turns on several concurrent warm threads: the total time divided by the number of turns. */
export function sideBySide(
  contender: Contender,
  plan: Plan,
  sessionContext: SessionContext,
): Promise<Effort> {
  return inSession(contender, sessionContext, async (session) => {
    const threads = await startSeveral(session, plan.threads);
    return divided(await timed(() => runAll(threads, plan.turns)), plan.threads * plan.turns);
  });
}

export function startSeveral(session: Session, count: number): Promise<Conversation[]> {
  return Promise.all(Array.from({ length: count }, () => startWarm(session)));
}

export async function runAll(threads: readonly Conversation[], turns: number): Promise<void> {
  const inTurn = async (thread: Conversation): Promise<void> => {
    for (let turn = 0; turn < turns; turn += 1) await shortTurn(thread);
  };
  await Promise.all(threads.map(inTurn));
}
