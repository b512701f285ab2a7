import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import type { AgentEvent } from "../../contract/agent-event.ts";
import { type Check, notVerified } from "../check.ts";
import { costShape, eventShape } from "../event-shape.ts";
import { beginsWithInit, endsAfterTerminal, hasOneTerminal, obeysLaw } from "../law-of-the-stream.ts";
import type { WatchedSession } from "../watched-session.ts";
import { holds } from "../within.ts";
import type { Workbench } from "../workbench.ts";

const tier = "event-contract";

/** What every stream has to be, seen in sessions that end by themselves. */
export const STREAM_CHECKS: readonly Check[] = [
  {
    id: "init-first",
    tier,
    title: "begins with exactly one init, which names the session",
    earns: true,
    run: async (bench) => beginsWithInit(await bench.recorded()),
  },
  {
    id: "one-terminal",
    tier,
    title: "gives exactly one result or error",
    earns: true,
    run: async (bench) => hasOneTerminal(await bench.recorded()),
  },
  {
    id: "nothing-after-terminal",
    tier,
    title: "gives nothing after its result or error, and then ends",
    earns: true,
    run: async (bench) => endsAfterTerminal(await bench.recorded()),
  },
  {
    id: "says-its-words",
    tier,
    title: "shows what the agent says, and succeeds when the agent does",
    earns: true,
    run: async (bench) => {
      const words = bench.nonce();
      const session = await (await bench.spawn(bench.scenarios.says(words))).toEnd();
      holds(session.text.includes(words), `the agent should say "${words}", and said "${session.text}"`);
      const { terminal } = session;
      holds(
        terminal?.kind === "result" && terminal.success,
        () => `it ended with ${JSON.stringify(terminal)}`,
      );
    },
  },
  {
    id: "events-well-formed",
    tier,
    title: "gives events of the kinds and with the fields of the contract",
    run: async (bench) => {
      for (const event of await seen(bench)) {
        const parsed = eventShape.safeParse(event);
        holds(
          parsed.success,
          () => `"${event.kind}" is not as the contract has it: ${problems(parsed.error)}`,
        );
      }
    },
  },
  {
    id: "usage-sane",
    tier,
    title: "counts what was used in whole numbers, none of them negative",
    run: async (bench) => {
      for (const event of await seen(bench)) {
        if (event.kind !== "result") continue;
        const parsed = costShape.safeParse(event.cost);
        holds(parsed.success, () => `the cost of the result is wrong: ${problems(parsed.error)}`);
      }
    },
  },
  {
    id: "json-round-trip",
    tier,
    title: "gives events that survive JSON, but for raw",
    run: async (bench) => {
      for (const { raw: _raw, ...event } of await seen(bench)) {
        const back: unknown = JSON.parse(JSON.stringify(event));
        holds(isDeepStrictEqual(back, event), () => `"${event.kind}" is not the same after JSON`);
      }
    },
  },
  {
    id: "tools-paired",
    tier,
    title: "answers each tool_use with one tool_result, in that order",
    run: async (bench) => {
      const session = await bench.recordedTool();
      if (!session) throw notVerified("there is no scenario `usesTool`");
      pairsTools(session);
      holds(
        session.events.some(({ kind }) => kind === "tool_use"),
        `the agent of the scenario \`usesTool\` should use a tool, and it told: ${session.kinds}`,
      );
    },
  },
  {
    id: "slow-reader",
    tier,
    title: "loses nothing of what is said to a reader that takes its time",
    run: async (bench) => {
      const words = bench.nonce();
      const session = await bench.spawn(bench.scenarios.says(words));
      do await delay(bench.limits.slowReaderMs);
      while (await session.next());
      obeysLaw(session);
      holds(session.text.includes(words), `the slow reader should get "${words}", and got "${session.text}"`);
    },
  },
  {
    id: "one-reader",
    tier,
    title: "refuses a second reader with events_taken, and goes on with the first",
    run: async (bench) => {
      const session = await bench.spawn(bench.scenarios.says(bench.nonce()));
      await session.next();
      await bench.refuses("a second reader", ["events_taken"], async () => {
        await session.handle.events[Symbol.asyncIterator]().next();
      });
      obeysLaw(await session.toEnd());
    },
  },
];

/** All events of the sessions that were recorded. */
async function seen(bench: Workbench): Promise<readonly AgentEvent[]> {
  const sessions = [await bench.recorded(), await bench.recordedTool()];
  return sessions.flatMap((session) => session?.events ?? []);
}

function pairsTools({ events, terminal }: WatchedSession): void {
  const open = new Map<string, string>();
  const used = new Set<string>();
  for (const event of events) {
    if (event.kind === "tool_use") {
      holds(!used.has(event.toolUseId), `two tool_use have the id "${event.toolUseId}"`);
      used.add(event.toolUseId);
      open.set(event.toolUseId, event.toolName);
    } else if (event.kind === "tool_result") {
      holds(open.delete(event.toolUseId), `a tool_result for "${event.toolUseId}", which is not in use`);
    } else if (event.kind === "tool_progress") {
      holds(open.has(event.toolUseId), `a tool_progress of "${event.toolUseId}", which is not in use`);
    }
  }
  const success = terminal?.kind === "result" && terminal.success;
  holds(!success || open.size === 0, () => `no tool_result came for ${[...open.values()].join(", ")}`);
}

function problems(
  error: { readonly issues: readonly { path: PropertyKey[]; message: string }[] } | undefined,
): string {
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`).join("; ");
}
