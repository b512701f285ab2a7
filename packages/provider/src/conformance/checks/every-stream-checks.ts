import { isDeepStrictEqual } from "node:util";
import type { AgentCost, AgentEvent } from "../../contract/agent-event.ts";
import { type Check, notVerified } from "../harness/check.ts";
import { costShape, eventShape } from "../harness/event-shape.ts";
import { checkInit, checkNothingAfterTerminal, checkOneTerminal } from "../harness/stream-rules.ts";
import type { ObservedSession } from "../harness/observed-session.ts";
import { describeError, failure, assertThat } from "../harness/assertions.ts";
import type { CheckContext } from "../harness/check-context.ts";

const tier = "event-contract";

/** Rules for every stream. These run last and judge all streams that the other checks have read. */
export const EVERY_STREAM_CHECKS: readonly Check[] = [
  {
    id: "init-first",
    tier,
    title: "starts with exactly one init, which has the session id",
    earns: true,
    run: (context) =>
      judgeAll(context, (session) => {
        if (session.isComplete || session.events.length > 0) checkInit(session);
      }),
  },
  {
    id: "one-terminal",
    tier,
    title: "emits exactly one result or error",
    earns: true,
    run: (context) =>
      judgeAll(context, (session) => {
        if (session.isComplete) checkOneTerminal(session);
      }),
  },
  {
    id: "nothing-after-terminal",
    tier,
    title: "emits nothing after its result or error, and then ends",
    earns: true,
    run: (context) => judgeAll(context, checkNothingAfterTerminal),
  },
  {
    id: "events-well-formed",
    tier,
    title: "emits only events that match the contract",
    run: (context) =>
      judgeEvents(context, (event) => {
        const parsed = eventShape.safeParse(event);
        assertThat(
          parsed.success,
          () => `"${event.kind}" does not match the contract: ${problems(parsed.error)}`,
        );
      }),
  },
  {
    id: "json-round-trip",
    tier,
    title: "emits events that survive a JSON round trip, except for raw",
    run: (context) =>
      judgeEvents(context, ({ raw: _raw, ...event }) => {
        const back: unknown = JSON.parse(JSON.stringify(event));
        assertThat(isDeepStrictEqual(back, event), () => `"${event.kind}" changes in a JSON round trip`);
      }),
  },
  {
    id: "usage-sane",
    tier,
    title: "reports usage in non-negative integers",
    run: (context) =>
      judgeEvents(context, (event) => {
        if (!("cost" in event)) return;
        const parsed = costShape.safeParse(event.cost);
        assertThat(parsed.success, () => `the cost of "${event.kind}" is invalid: ${problems(parsed.error)}`);
      }),
  },
  {
    id: "usage-grows",
    tier,
    title: "never decreases the cost: the last event, also an error, includes the cost so far",
    run: (context) => judgeAll(context, costGrows),
  },
  {
    id: "tools-paired",
    tier,
    title: "follows each tool_use with exactly one tool_result",
    run: async (context) => {
      const session = await context.recordedTool();
      await judgeAll(context, pairsTools);
      if (!session) throw notVerified("there is no scenario `usesTool`");
      assertThat(
        session.events.some(({ kind }) => kind === "tool_use"),
        `the agent of the scenario \`usesTool\` should use a tool; events: ${session.kinds}`,
      );
    },
  },
  {
    id: "receipt-matches-init",
    tier: "adaptation-receipt",
    title: "has the same ignored fields in init and on the handle",
    run: (context) =>
      judgeAll(context, ({ events: [init], handle }) => {
        if (init?.kind !== "init") return;
        assertThat(
          isDeepStrictEqual(init.ignored, handle.ignored),
          "`ignored` of the handle differs from that of init",
        );
      }),
  },
  {
    id: "errors-well-formed",
    tier,
    title: "rejects with errors that have a code, retryable, and a message that JSON keeps",
    run: async (context) => {
      for (const { what, error } of context.refusals) {
        assertThat(
          error instanceof Error,
          `${what} was refused with a value that is not an Error: ${String(error)}`,
        );
        assertThat(error.message.trim() !== "", `${what} was refused without a message`);
        const { retryable } = error as { retryable?: unknown };
        assertThat(
          typeof retryable === "boolean",
          `the error of ${what} should have a boolean \`retryable\`, but it is ${String(retryable)}`,
        );
        const json = JSON.parse(JSON.stringify(error)) as { message?: unknown; code?: unknown };
        assertThat(json.message === error.message, `the error of ${what} loses its message as JSON`);
        assertThat(typeof json.code === "string", `the error of ${what} loses its code as JSON`);
      }
    },
  },
];

/** Judges every session of the run. Runs a session if there was none. */
async function judgeAll(context: CheckContext, judge: (session: ObservedSession) => void): Promise<void> {
  await context.recorded();
  await context.recordedTool();
  for (const session of context.sessions) {
    try {
      judge(session);
    } catch (error) {
      throw failure(`${describeError(error)}, in ${session.label}`, error);
    }
  }
}

function judgeEvents(context: CheckContext, judge: (event: AgentEvent) => void): Promise<void> {
  return judgeAll(context, ({ events }) => {
    for (const event of events) judge(event);
  });
}

const COUNTS = ["inputTokens", "outputTokens", "cachedInputTokens", "usd", "turns"] as const;

function costGrows({ events }: ObservedSession): void {
  let before: AgentCost = {};
  for (const event of events) {
    if (!("cost" in event)) continue;
    for (const count of COUNTS) {
      const [then, now] = [before[count], event.cost[count]];
      // The price may become unknown; token and call counts may not.
      if (then === undefined || (count === "usd" && now === undefined)) continue;
      assertThat(
        now !== undefined && now >= then,
        () => `${count} of "${event.kind}" is ${now}, but was ${then} before`,
      );
    }
    before = event.cost;
  }
}

function pairsTools({ events, terminal }: ObservedSession): void {
  const open = new Map<string, string>();
  const used = new Set<string>();
  for (const event of events) {
    if (event.kind === "tool_use") {
      assertThat(!used.has(event.toolUseId), `two tool_use events have the id "${event.toolUseId}"`);
      used.add(event.toolUseId);
      open.set(event.toolUseId, event.toolName);
    } else if (event.kind === "tool_result" || event.kind === "tool_progress") {
      const name = open.get(event.toolUseId);
      assertThat(name !== undefined, `a ${event.kind} for "${event.toolUseId}", which has no open tool_use`);
      assertThat(
        name === event.toolName,
        `a ${event.kind} has the tool name "${event.toolName}", but its tool_use has "${name}"`,
      );
      if (event.kind === "tool_result") open.delete(event.toolUseId);
    }
  }
  assertThat(
    terminal?.kind !== "result" || open.size === 0,
    () => `there is no tool_result for ${[...open.values()].join(", ")}`,
  );
}

function problems(
  error: { readonly issues: readonly { path: PropertyKey[]; message: string }[] } | undefined,
): string {
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}
