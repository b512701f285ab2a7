import type { AgentSpec, SpecField } from "../../contract/agent-spec.ts";
import { type Check, notApplicable, notVerified } from "../check.ts";
import { endedWith, obeysLaw } from "../law-of-the-stream.ts";
import { withTwins } from "../twins.ts";
import type { OpenedBy, WatchedSession } from "../watched-session.ts";
import { holds } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "adaptation-receipt";

/** Whether the limits of a spec that are honoured are kept: no session goes beyond them, and none is ended before. */
export const LIMIT_CHECKS: readonly Check[] = withTwins([
  {
    id: "deadline-is-kept",
    tier,
    title: "ends with deadline_exceeded when timeoutMs is over, if it honours it",
    run: async (bench, openedBy) => {
      const spec = { ...bench.scenarios.works(), timeoutMs: bench.limits.deadlineMs };
      const session = await honoured(bench, openedBy, spec, "timeoutMs");
      await session.toEnd();
      endedWith(session, "result deadline_exceeded");
      obeysLaw(session);
    },
  },
  {
    id: "max-turns-are-kept",
    tier,
    title: "ends with max_turns when the model was called so often, if it honours it",
    run: async (bench, openedBy) => {
      const session = await honoured(bench, openedBy, { ...twice(bench), maxTurns: 1 }, "maxTurns");
      await session.toEnd();
      endedWith(session, "result max_turns");
      obeysLaw(session);
    },
  },
  {
    id: "max-turns-are-given",
    tier,
    title: "lets a session have all calls of its model that maxTurns permits, those of its past not counted",
    run: async (bench, openedBy) => {
      const free = await (await bench.spawn(bench.scenarios.says(bench.nonce()))).toEnd();
      const turns = free.terminal?.cost.turns;
      if (turns === undefined || turns === 0) throw notApplicable("the provider counts no calls");
      const spec = { ...bench.scenarios.says(bench.nonce()), maxTurns: turns };
      const session = await (await honoured(bench, openedBy, spec, "maxTurns")).toEnd();
      endedWith(session, "result success");
      const used = session.terminal?.cost.turns;
      holds(used === turns, `the same task took ${turns} calls of the model, and now ${used}`);
    },
  },
  {
    id: "max-tokens-are-kept",
    tier,
    title: "ends with budget_exceeded when maxTokens are used up, if it honours it",
    run: async (bench, openedBy) => {
      const session = await honoured(bench, openedBy, { ...twice(bench), maxTokens: 1 }, "maxTokens");
      await session.toEnd();
      endedWith(session, "result budget_exceeded");
      obeysLaw(session);
      await fits(bench, openedBy, "maxTokens", ({ inputTokens = 0, outputTokens = 0 }) => {
        return inputTokens + outputTokens;
      });
    },
  },
  {
    id: "max-cost-is-kept",
    tier,
    title: "ends with budget_exceeded when maxCostUsd is used up, if it honours it",
    run: async (bench, openedBy) => {
      const session = await honoured(bench, openedBy, { ...twice(bench), maxCostUsd: 1e-9 }, "maxCostUsd");
      await session.toEnd();
      endedWith(session, "result budget_exceeded");
      obeysLaw(session);
      await fits(bench, openedBy, "maxCostUsd", ({ usd }) => usd);
    },
  },
  {
    id: "open-timeout-is-kept",
    tier,
    title: "refuses with open_timeout when a session is not open after openTimeoutMs, if it honours it",
    run: async (bench, openedBy) => {
      const spec = bench.scenarios.opensSlowly?.();
      if (!spec) throw notVerified("there is no scenario `opensSlowly`");
      const fast = { ...bench.scenarios.works(), openTimeoutMs: bench.limits.spawnMs };
      await (await honoured(bench, openedBy, fast, "openTimeoutMs")).stop();
      const past = openedBy === "resume" ? await bench.pastSession() : "";
      const slow = { ...spec, openTimeoutMs: bench.limits.openMs };
      await bench.refuses(`${openedBy}() that takes too long`, ["open_timeout"], () =>
        openedBy === "spawn" ? bench.provider.spawn(slow) : bench.provider.resume(past, slow),
      );
    },
  },
]);

function twice({ scenarios }: Workbench): AgentSpec {
  const spec = scenarios.callsModelTwice?.();
  if (!spec) throw notVerified("there is no scenario `callsModelTwice`");
  return spec;
}

async function honoured(
  bench: Workbench,
  openedBy: OpenedBy,
  spec: AgentSpec,
  field: SpecField,
): Promise<WatchedSession> {
  const session = await bench.open(openedBy, spec);
  if (session.handle.ignored.some((receipt) => receipt.field === field))
    throw notApplicable(`${field} is ignored`);
  return session;
}

/** A budget that is as large as what a task costs is enough for the task. */
async function fits(
  bench: Workbench,
  openedBy: OpenedBy,
  field: "maxTokens" | "maxCostUsd",
  amountOf: (cost: NonNullable<WatchedSession["terminal"]>["cost"]) => number | undefined,
): Promise<void> {
  const free = await (await bench.open(openedBy, bench.scenarios.says(bench.nonce()))).toEnd();
  const amount = free.terminal && amountOf(free.terminal.cost);
  holds(amount !== undefined, `${field} is honoured, and the cost of a session does not show it`);
  if (amount === 0) return;
  // What a session remembers makes the next one a little larger.
  const spec = { ...bench.scenarios.says(bench.nonce()), [field]: amount * 2 };
  const session = await (await bench.open(openedBy, spec)).toEnd();
  endedWith(session, "result success");
}
