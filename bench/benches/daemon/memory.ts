import { inSession, type SessionContext } from "../turns/in-session.ts";
import { runAll, startSeveral } from "../turns/side-by-side.ts";
import { daemon } from "./daemon-contender.ts";

const SESSIONS = 8;
const TURNS = 1_000;

/** Returns by how many MB the daemon's heap has grown after the turns, with the sessions still open. */
export function daemonGrowth(sessionContext: SessionContext): Promise<{ readonly "heap growth": number }> {
  return inSession(daemon, sessionContext, async (session) => {
    const threads = await startSeveral(session, SESSIONS);
    const before = await session.heapUsed();
    await runAll(threads, TURNS / SESSIONS);
    const after = await session.heapUsed();
    return { "heap growth": Math.max(0, after - before) / 2 ** 20 };
  });
}
