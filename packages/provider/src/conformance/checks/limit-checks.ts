import type { ErrorSubtype } from "../../contract/agent-event.ts";
import type { AgentSpec, SpecField } from "../../contract/agent-spec.ts";
import { type Check, notApplicable, notVerified } from "../harness/check.ts";
import { checkEnding, checkStream } from "../harness/stream-rules.ts";
import { forSpawnAndResume } from "../harness/spawn-and-resume.ts";
import type { OpenedBy, ObservedSession } from "../harness/observed-session.ts";
import { assertThat } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

const tier = "adaptation-receipt";

/** Checks that honoured limits are enforced, and that no session ends before it reaches them. */
export const LIMIT_CHECKS: readonly Check[] = forSpawnAndResume([
  {
    id: "deadline-is-kept",
    tier,
    title: "ends with deadline_exceeded after timeoutMs, if it honours timeoutMs",
    run: async (context, openedBy) => {
      const spec = { ...context.scenarios.works(), timeoutMs: context.limits.deadlineMs };
      await checkLimitIsKept(context, openedBy, { spec, field: "timeoutMs", subtype: "deadline_exceeded" });
    },
  },
  {
    id: "max-turns-are-kept",
    tier,
    title: "ends with max_turns after that many model calls, if it honours maxTurns",
    run: async (context, openedBy) => {
      const spec = { ...twoCallSpec(context), maxTurns: 1 };
      await checkLimitIsKept(context, openedBy, { spec, field: "maxTurns", subtype: "max_turns" });
    },
  },
  {
    id: "max-turns-are-available",
    tier,
    title: "allows as many model calls as maxTurns permits, not counting those before a resume",
    run: async (context, openedBy) => {
      const free = await (await context.spawn(context.scenarios.says(context.nonce()))).readToEnd();
      const turns = free.terminal?.cost.turns;
      if (turns === undefined || turns === 0) throw notApplicable("the provider does not count model calls");
      const spec = { ...context.scenarios.says(context.nonce()), maxTurns: turns };
      const session = await (await openHonoured(context, openedBy, spec, "maxTurns")).readToEnd();
      checkEnding(session, "result success");
      const used = session.terminal?.cost.turns;
      assertThat(used === turns, `the same task took ${turns} model calls, but now ${used}`);
    },
  },
  {
    id: "max-tokens-are-kept",
    tier,
    title: "ends with budget_exceeded after maxTokens, if it honours maxTokens",
    run: async (context, openedBy) => {
      const spec = { ...twoCallSpec(context), maxTokens: 1 };
      await checkLimitIsKept(context, openedBy, { spec, field: "maxTokens", subtype: "budget_exceeded" });
      await checkSufficientBudget(context, openedBy, "maxTokens", ({ inputTokens = 0, outputTokens = 0 }) => {
        return inputTokens + outputTokens;
      });
    },
  },
  {
    id: "max-cost-is-kept",
    tier,
    title: "ends with budget_exceeded after maxCostUsd, if it honours maxCostUsd",
    run: async (context, openedBy) => {
      const spec = { ...twoCallSpec(context), maxCostUsd: 1e-9 };
      await checkLimitIsKept(context, openedBy, { spec, field: "maxCostUsd", subtype: "budget_exceeded" });
      await checkSufficientBudget(context, openedBy, "maxCostUsd", ({ usd }) => usd);
    },
  },
  {
    id: "open-timeout-is-kept",
    tier,
    title:
      "refuses with open_timeout if a session is not open after openTimeoutMs, if it honours openTimeoutMs",
    run: async (context, openedBy) => {
      const spec = context.scenarios.opensSlowly?.();
      if (!spec) throw notVerified("there is no scenario `opensSlowly`");
      const fast = { ...context.scenarios.works(), openTimeoutMs: context.limits.spawnMs };
      await (await openHonoured(context, openedBy, fast, "openTimeoutMs")).stop();
      const past = openedBy === "resume" ? await context.endedSession() : "";
      const slow = { ...spec, openTimeoutMs: context.limits.openMs };
      await context.expectRefusal(`${openedBy}() that takes too long`, ["open_timeout"], () =>
        openedBy === "spawn" ? context.provider.spawn(slow) : context.provider.resume(past, slow),
      );
    },
  },
]);

function twoCallSpec({ scenarios }: CheckContext): AgentSpec {
  const spec = scenarios.callsModelTwice?.();
  if (!spec) throw notVerified("there is no scenario `callsModelTwice`");
  return spec;
}

async function openHonoured(
  context: CheckContext,
  openedBy: OpenedBy,
  spec: AgentSpec,
  field: SpecField,
): Promise<ObservedSession> {
  const session = await context.open(openedBy, spec);
  if (session.handle.ignored.some((receipt) => receipt.field === field))
    throw notApplicable(`${field} is ignored`);
  return session;
}

/** Checks that a session that reaches a limit ends with this subtype. */
async function checkLimitIsKept(
  context: CheckContext,
  openedBy: OpenedBy,
  { spec, field, subtype }: { spec: AgentSpec; field: SpecField; subtype: ErrorSubtype },
): Promise<void> {
  const session = await openHonoured(context, openedBy, spec, field);
  await session.readToEnd();
  checkEnding(session, `result ${subtype}`);
  checkStream(session);
}

/** Checks that a budget larger than the cost of a task is enough for the task. */
async function checkSufficientBudget(
  context: CheckContext,
  openedBy: OpenedBy,
  field: "maxTokens" | "maxCostUsd",
  amountOf: (cost: NonNullable<ObservedSession["terminal"]>["cost"]) => number | undefined,
): Promise<void> {
  const free = await (await context.open(openedBy, context.scenarios.says(context.nonce()))).readToEnd();
  const amount = free.terminal && amountOf(free.terminal.cost);
  assertThat(amount !== undefined, `${field} is honoured, but the cost of the session does not report it`);
  if (amount === 0) return;
  // The history of a resumed session adds tokens.
  const spec = { ...context.scenarios.says(context.nonce()), [field]: amount * 2 };
  const session = await (await context.open(openedBy, spec)).readToEnd();
  checkEnding(session, "result success");
}
