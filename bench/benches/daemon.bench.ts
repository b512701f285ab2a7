import { defineBench } from "../define-bench.ts";
import { appendEvents, insertPlainRows } from "./daemon/appends.ts";
import { daemon } from "./daemon/daemon-contender.ts";
import { daemonGrowth } from "./daemon/memory.ts";
import { readFirstPage } from "./daemon/pages.ts";
import { readTogether } from "./daemon/readers.ts";
import { streamThroughSandboxAgent } from "./daemon/sandbox-agent.ts";
import { setUp } from "./daemon/setup.ts";
import type { AppServerContender } from "./turns/contender.ts";
import { crowd } from "./turns/crowd.ts";
import { deltaByDelta } from "./turns/delta-by-delta.ts";
import { floor } from "./turns/floor.ts";
import type { SessionContext } from "./turns/in-session.ts";
import { once } from "./turns/once.ts";
import { DELTAS } from "./turns/script.ts";
import type { Effort } from "./turns/stopwatch.ts";

/**
 * Turns through the daemon, in its own process, against codex's wire protocol alone; and its store on SQLite
 * and on a real Postgres, both with commits that wait for the disk.
 */
export default defineBench({
  name: "daemon",
  description: "turns through the daemon against codex alone; its journal on SQLite and Postgres",
  rounds: 5,
  setup: setUp,
  rows: (row) => [
    row({
      name: "5,000 deltas through SSE",
      measures: { time: "ms", "client cpu": "ms", received: { unit: "deltas", better: "higher" } },
      contestants: {
        ours: ({ model }, signal) => streamAll(daemon, { model, signal }),
        codex: ({ model }, signal) => streamAll(floor, { model, signal }),
        "sandbox-agent": ({ model }, signal) => streamThroughSandboxAgent({ model, signal }),
      },
      bars: [
        { measure: "time", against: "codex", atMost: 1.3 },
        { measure: "time", against: "sandbox-agent", atMost: 0.7 },
      ],
    }),
    row({
      name: "1,000 SSE readers of 20 turns",
      measures: { completed: { unit: "readers", better: "higher" }, time: "ms" },
      contestants: { ours: once(({ model }, signal) => readTogether({ model, signal })) },
      bars: [{ measure: "completed", atLeast: 1_000 }],
    }),
    row({
      name: "200 sessions at once",
      measures: { completed: { unit: "sessions", better: "higher" }, time: "ms", "client cpu": "ms" },
      contestants: {
        ours: once(({ model }, signal) => crowd(daemon, 200, { model, signal })),
        codex: once(({ model }, signal) => crowd(floor, 200, { model, signal })),
      },
      bars: [{ measure: "completed", atLeast: 200 }],
    }),
    row({
      name: "1,000 turns",
      measures: { "heap growth": "MB" },
      contestants: { ours: once(({ model }, signal) => daemonGrowth({ model, signal })) },
      bars: [{ measure: "heap growth", atMost: 30 }],
    }),
    row({
      name: "journal appends, SQLite",
      measures: "events/s",
      contestants: {
        ours: async ({ sqlite }) => appendEvents(await sqlite()),
        floor: ({ plain }) => Promise.resolve(insertPlainRows(plain())),
      },
      bars: [{ atLeast: 50_000 }],
    }),
    row({
      name: "journal appends, Postgres",
      measures: "events/s",
      contestants: { ours: async ({ postgres }) => appendEvents(await postgres()) },
      bars: [{ atLeast: 20_000 }],
    }),
    row({
      name: "first page of items, 100,000 events, SQLite",
      measures: "ms",
      contestants: {
        ours: async ({ sqlite }) => readFirstPage(await sqlite(), "long"),
        "100 events": async ({ sqlite }) => readFirstPage(await sqlite(), "short"),
      },
      bars: [{ against: "100 events", atMost: 3 }],
    }),
    row({
      name: "first page of items, 100,000 events, Postgres",
      measures: "ms",
      contestants: {
        ours: async ({ postgres }) => readFirstPage(await postgres(), "long"),
        "100 events": async ({ postgres }) => readFirstPage(await postgres(), "short"),
      },
      bars: [{ against: "100 events", atMost: 3 }],
    }),
  ],
});

/**
 * One turn of deltas, after an unmeasured one: a daemon runs for days and compiles its code in the first
 * seconds. Fails if a single delta is missing.
 */
async function streamAll(
  contender: AppServerContender,
  sessionContext: SessionContext,
): Promise<Effort & { readonly received: number }> {
  return { ...(await deltaByDelta(contender, 3, sessionContext, { warmUp: 1 })), received: DELTAS };
}
