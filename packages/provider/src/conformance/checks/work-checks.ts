import { setTimeout as delay } from "node:timers/promises";
import { type Check, notVerified } from "../harness/check.ts";
import { forSpawnAndResume } from "../harness/spawn-and-resume.ts";
import type { OpenedBy, ObservedSession } from "../harness/observed-session.ts";
import { failure, assertThat, waitFor } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

const tier = "event-contract";

/** Checks that the agent really stops working once its session has ended. */
export const WORK_CHECKS: readonly Check[] = forSpawnAndResume([
  {
    id: "stop-ends-work",
    tier,
    title: "has no running agent once stop() has resolved",
    run: async (context, openedBy) => {
      const { session, trace } = await startWork(context, openedBy);
      await session.stop();
      await expectIdle(context, trace);
    },
  },
  {
    id: "signal-ends-work",
    tier,
    title: "has no running agent after its signal has aborted",
    run: async (context, openedBy) => {
      const abort = new AbortController();
      const { session, trace } = await startWork(context, openedBy, { signal: abort.signal });
      abort.abort();
      await session.readToEnd();
      await session.stop();
      await expectIdle(context, trace);
    },
  },
  {
    id: "reader-leaving-ends-work",
    tier,
    title: "has no running agent after its reader has stopped",
    run: async (context, openedBy) => {
      const { session, trace } = await startWork(context, openedBy);
      await session.stopReading();
      await session.stop();
      await expectIdle(context, trace);
    },
  },
  {
    id: "deadline-ends-work",
    tier,
    title: "has no running agent after its deadline",
    run: async (context, openedBy) => {
      const { session, trace } = await startWork(
        context,
        openedBy,
        {},
        { timeoutMs: context.limits.deadlineMs },
      );
      if (session.handle.ignored.some(({ field }) => field === "timeoutMs")) return session.stop();
      await session.readToEnd();
      await session.stop();
      await expectIdle(context, trace);
    },
  },
  {
    id: "shutdown-ends-work",
    tier,
    title: "has no running agents after shutdown()",
    run: async (context, openedBy) => {
      const provider = await context.freshProvider();
      const { trace } = await startWork(context, openedBy, {}, {}, provider);
      await waitFor("shutdown()", context.limits.shutdownMs, provider.shutdown());
      await expectIdle(context, trace);
    },
  },
]);

type Trace = () => Promise<number>;

async function startWork(
  context: CheckContext,
  openedBy: OpenedBy,
  options: { signal?: AbortSignal } = {},
  fields: { timeoutMs?: number } = {},
  provider = context.provider,
): Promise<{ session: ObservedSession; trace: Trace }> {
  const { leavesTrace } = context.scenarios;
  if (!leavesTrace) throw notVerified("there is no scenario `leavesTrace`");
  const trace: Trace = async () => leavesTrace.count();
  const before = await trace();
  const session = await context.open(openedBy, { ...leavesTrace.works(), ...fields }, options, provider);
  const until = performance.now() + context.limits.sessionMs;
  // With a deadline the session may end before it leaves a trace. Then there is no work that could continue.
  while (fields.timeoutMs === undefined && (await trace()) <= before) {
    if (performance.now() > until) throw failure("the agent of the scenario `leavesTrace` left no trace");
    await delay(1);
  }
  return { session, trace };
}

async function expectIdle({ limits }: CheckContext, trace: Trace): Promise<void> {
  const before = await trace();
  await delay(limits.idleMs);
  const after = await trace();
  assertThat(after === before, `the agent should be idle, but left ${after - before} more traces`);
}
