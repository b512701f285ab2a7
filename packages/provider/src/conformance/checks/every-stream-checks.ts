import { isDeepStrictEqual } from "node:util";
import type { AgentCost, AgentEvent } from "../../contract/agent-event.ts";
import { type Check, notVerified } from "../check.ts";
import { costShape, eventShape } from "../event-shape.ts";
import { beginsWithInit, endsAfterTerminal, hasOneTerminal } from "../law-of-the-stream.ts";
import type { WatchedSession } from "../watched-session.ts";
import { describeError, failure, holds } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "event-contract";

/** What every stream has to be. These come last, and judge all that the other checks have read. */
export const EVERY_STREAM_CHECKS: readonly Check[] = [
  {
    id: "init-first",
    tier,
    title: "begins with exactly one init, which names the session",
    earns: true,
    run: (bench) =>
      judgeAll(bench, (session) => {
        if (session.isComplete || session.events.length > 0) beginsWithInit(session);
      }),
  },
  {
    id: "one-terminal",
    tier,
    title: "gives exactly one result or error",
    earns: true,
    run: (bench) =>
      judgeAll(bench, (session) => {
        if (session.isComplete) hasOneTerminal(session);
      }),
  },
  {
    id: "nothing-after-terminal",
    tier,
    title: "gives nothing after its result or error, and then ends",
    earns: true,
    run: (bench) => judgeAll(bench, endsAfterTerminal),
  },
  {
    id: "events-well-formed",
    tier,
    title: "gives events of the kinds and with the fields of the contract",
    run: (bench) =>
      judgeEvents(bench, (event) => {
        const parsed = eventShape.safeParse(event);
        holds(
          parsed.success,
          () => `"${event.kind}" is not as the contract has it: ${problems(parsed.error)}`,
        );
      }),
  },
  {
    id: "json-round-trip",
    tier,
    title: "gives events that survive JSON, but for raw",
    run: (bench) =>
      judgeEvents(bench, ({ raw: _raw, ...event }) => {
        const back: unknown = JSON.parse(JSON.stringify(event));
        holds(isDeepStrictEqual(back, event), () => `"${event.kind}" is not the same after JSON`);
      }),
  },
  {
    id: "usage-sane",
    tier,
    title: "counts what was used in whole numbers, none of them negative",
    run: (bench) =>
      judgeEvents(bench, (event) => {
        if (!("cost" in event)) return;
        const parsed = costShape.safeParse(event.cost);
        holds(parsed.success, () => `the cost of "${event.kind}" is wrong: ${problems(parsed.error)}`);
      }),
  },
  {
    id: "usage-grows",
    tier,
    title: "never counts less than before: the last event, an error too, has the cost so far",
    run: (bench) => judgeAll(bench, costGrows),
  },
  {
    id: "tools-paired",
    tier,
    title: "answers each tool_use with one tool_result, in that order",
    run: async (bench) => {
      const session = await bench.recordedTool();
      await judgeAll(bench, pairsTools);
      if (!session) throw notVerified("there is no scenario `usesTool`");
      holds(
        session.events.some(({ kind }) => kind === "tool_use"),
        `the agent of the scenario \`usesTool\` should use a tool, and it told: ${session.kinds}`,
      );
    },
  },
  {
    id: "receipt-is-the-same",
    tier: "adaptation-receipt",
    title: "tells the same receipt in init and on the handle",
    run: (bench) =>
      judgeAll(bench, ({ events: [init], handle }) => {
        if (init?.kind !== "init") return;
        holds(
          isDeepStrictEqual(init.ignored, handle.ignored),
          "the receipt of the handle is not that of init",
        );
      }),
  },
  {
    id: "errors-well-formed",
    tier,
    title: "refuses calls with errors that have a code, retryable, and a message that JSON keeps",
    run: async (bench) => {
      for (const { what, error } of bench.refusals) {
        holds(error instanceof Error, `${what} was refused with what is not an Error: ${String(error)}`);
        holds(error.message.trim() !== "", `${what} was refused without a message`);
        const { retryable } = error as { retryable?: unknown };
        holds(
          typeof retryable === "boolean",
          `the error of ${what} should have a boolean \`retryable\`, and it is ${String(retryable)}`,
        );
        const json = JSON.parse(JSON.stringify(error)) as { message?: unknown; code?: unknown };
        holds(json.message === error.message, `the error of ${what} loses its message as JSON`);
        holds(typeof json.code === "string", `the error of ${what} loses its code as JSON`);
      }
    },
  },
];

/** Judges every session of the run, of which there is at least one. */
async function judgeAll(bench: Workbench, judge: (session: WatchedSession) => void): Promise<void> {
  await bench.recorded();
  await bench.recordedTool();
  for (const session of bench.sessions) {
    try {
      judge(session);
    } catch (error) {
      throw failure(`${describeError(error)}, in ${session.label}`, error);
    }
  }
}

function judgeEvents(bench: Workbench, judge: (event: AgentEvent) => void): Promise<void> {
  return judgeAll(bench, ({ events }) => {
    for (const event of events) judge(event);
  });
}

const COUNTS = ["inputTokens", "outputTokens", "cachedInputTokens", "usd", "turns"] as const;

function costGrows({ events }: WatchedSession): void {
  let before: AgentCost = {};
  for (const event of events) {
    if (!("cost" in event)) continue;
    for (const count of COUNTS) {
      const [then, now] = [before[count], event.cost[count]];
      // An amount of money may stop being known; tokens and calls don't.
      if (then === undefined || (count === "usd" && now === undefined)) continue;
      holds(
        now !== undefined && now >= then,
        () => `the ${count} of "${event.kind}" are ${now}, and were ${then}`,
      );
    }
    before = event.cost;
  }
}

function pairsTools({ events, terminal }: WatchedSession): void {
  const open = new Map<string, string>();
  const used = new Set<string>();
  for (const event of events) {
    if (event.kind === "tool_use") {
      holds(!used.has(event.toolUseId), `two tool_use have the id "${event.toolUseId}"`);
      used.add(event.toolUseId);
      open.set(event.toolUseId, event.toolName);
    } else if (event.kind === "tool_result" || event.kind === "tool_progress") {
      const name = open.get(event.toolUseId);
      holds(name !== undefined, `a ${event.kind} for "${event.toolUseId}", which is not in use`);
      holds(
        name === event.toolName,
        `a ${event.kind} calls the tool "${event.toolName}", which began as "${name}"`,
      );
      if (event.kind === "tool_result") open.delete(event.toolUseId);
    }
  }
  holds(
    terminal?.kind !== "result" || open.size === 0,
    () => `no tool_result came for ${[...open.values()].join(", ")}`,
  );
}

function problems(
  error: { readonly issues: readonly { path: PropertyKey[]; message: string }[] } | undefined,
): string {
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}
