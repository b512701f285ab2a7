import { setTimeout as delay } from "node:timers/promises";
import { type Check, notVerified } from "../check.ts";
import { withTwins } from "../twins.ts";
import type { OpenedBy, WatchedSession } from "../watched-session.ts";
import { failure, holds, within } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "event-contract";

/** Whether an agent really rests once its session has ended. */
export const WORK_CHECKS: readonly Check[] = withTwins([
  {
    id: "stop-ends-work",
    tier,
    title: "has an agent that works no more once stop() has resolved",
    run: async (bench, openedBy) => {
      const { session, trace } = await working(bench, openedBy);
      await session.stop();
      await rests(bench, trace);
    },
  },
  {
    id: "signal-ends-work",
    tier,
    title: "has an agent that works no more after its signal fired",
    run: async (bench, openedBy) => {
      const abort = new AbortController();
      const { session, trace } = await working(bench, openedBy, { signal: abort.signal });
      abort.abort();
      await session.toEnd();
      await session.stop();
      await rests(bench, trace);
    },
  },
  {
    id: "leaving-ends-work",
    tier,
    title: "has an agent that works no more after its reader left",
    run: async (bench, openedBy) => {
      const { session, trace } = await working(bench, openedBy);
      await session.leave();
      await session.stop();
      await rests(bench, trace);
    },
  },
  {
    id: "deadline-ends-work",
    tier,
    title: "has an agent that works no more after its deadline",
    run: async (bench, openedBy) => {
      const { session, trace } = await working(bench, openedBy, {}, { timeoutMs: bench.limits.deadlineMs });
      if (session.handle.ignored.some(({ field }) => field === "timeoutMs")) return session.stop();
      await session.toEnd();
      await session.stop();
      await rests(bench, trace);
    },
  },
  {
    id: "shutdown-ends-work",
    tier,
    title: "has agents that work no more once it is shut down",
    run: async (bench, openedBy) => {
      const provider = await bench.freshProvider();
      const { trace } = await working(bench, openedBy, {}, {}, provider);
      await within("shutdown()", bench.limits.shutdownMs, provider.shutdown());
      await rests(bench, trace);
    },
  },
]);

type Trace = () => Promise<number>;

async function working(
  bench: Workbench,
  openedBy: OpenedBy,
  options: { signal?: AbortSignal } = {},
  fields: { timeoutMs?: number } = {},
  provider = bench.provider,
): Promise<{ session: WatchedSession; trace: Trace }> {
  const { leavesTrace } = bench.scenarios;
  if (!leavesTrace) throw notVerified("there is no scenario `leavesTrace`");
  const trace: Trace = async () => leavesTrace.count();
  const before = await trace();
  const session = await bench.open(openedBy, { ...leavesTrace.works(), ...fields }, options, provider);
  const until = performance.now() + bench.limits.sessionMs;
  // With a deadline the session may end before it left a trace: then there is nothing that could go on.
  while (fields.timeoutMs === undefined && (await trace()) <= before) {
    if (performance.now() > until) throw failure("the agent of the scenario `leavesTrace` left no trace");
    await delay(1);
  }
  return { session, trace };
}

async function rests({ limits }: Workbench, trace: Trace): Promise<void> {
  const before = await trace();
  await delay(limits.idleMs);
  const after = await trace();
  holds(after === before, `the agent should rest, and left ${after - before} more traces of its work`);
}
