import { defineBench } from "../define-bench.ts";
import { codexSdk, compat } from "./turns/codex-sdk.ts";
import { ephemeral, type AppServerContender } from "./turns/contender.ts";
import { crowd } from "./turns/crowd.ts";
import { deltaByDelta } from "./turns/delta-by-delta.ts";
import { firstTurn } from "./turns/first-turn.ts";
import { floor } from "./turns/floor.ts";
import { heapGrowth } from "./turns/heap-growth.ts";
import type { SessionContext } from "./turns/in-session.ts";
import { once } from "./turns/once.ts";
import { oneByOne } from "./turns/one-by-one.ts";
import { ours } from "./turns/ours.ts";
import { sideBySide } from "./turns/side-by-side.ts";
import { startModel, type Model } from "./turns/start-model.ts";

const EFFORT = { time: "ms", "client cpu": "ms" } as const;

/**
 * Whole turns on the real codex and a scripted model. Most of the time is codex's own, which is the same for
 * ours and the floor. The processor time of this process shows what each of the two adds, and shows a
 * regression first.
 *
 * `@openai/codex-sdk` runs fewer turns per round: each takes a process, and a round should not last minutes.
 * Results are per turn.
 */
export default defineBench({
  name: "turns",
  description: "whole turns on the real codex, against @openai/codex-sdk and the floor (the bare wire)",
  rounds: 5,
  setup: startModel,
  rows: (row) => [
    row({
      name: "one by one",
      measures: EFFORT,
      contestants: {
        ...onAppServer((contender, sessionContext) => oneByOne(contender, 50, sessionContext)),
        "@openai/codex-sdk": withModel((sessionContext) => oneByOne(codexSdk, 50, sessionContext)),
      },
      bars: [
        { measure: "time", against: "floor", atMost: 1.1 },
        { measure: "time", against: "@openai/codex-sdk", atMost: 1 / 4 },
      ],
    }),
    row({
      name: "one by one, ephemeral",
      measures: EFFORT,
      contestants: onAppServer((contender, sessionContext) =>
        oneByOne(ephemeral(contender), 50, sessionContext),
      ),
    }),
    row({
      name: "codexkit/compat, one by one",
      measures: EFFORT,
      contestants: {
        ours: withModel((sessionContext) => oneByOne(compat, 20, sessionContext)),
        "@openai/codex-sdk": withModel((sessionContext) => oneByOne(codexSdk, 20, sessionContext)),
      },
      bars: [{ measure: "time", against: "@openai/codex-sdk", atMost: 0.6 }],
    }),
    row({
      name: "8 threads at once",
      measures: EFFORT,
      contestants: {
        ...onAppServer((contender, sessionContext) =>
          sideBySide(contender, { threads: 8, turns: 6 }, sessionContext),
        ),
        "@openai/codex-sdk": withModel((sessionContext) =>
          sideBySide(codexSdk, { threads: 8, turns: 1 }, sessionContext),
        ),
      },
      bars: [{ measure: "time", against: "floor", atMost: 1.1 }],
    }),
    row({
      name: "5,000 deltas",
      measures: EFFORT,
      contestants: onAppServer((contender, sessionContext) => deltaByDelta(contender, 3, sessionContext)),
      bars: [{ measure: "time", against: "floor", atMost: 1.15 }],
    }),
    row({
      name: "300 threads at once",
      measures: { completed: { unit: "threads", better: "higher" }, ...EFFORT },
      contestants: {
        ours: once(withModel((sessionContext) => crowd(ours, 300, sessionContext))),
        floor: once(withModel((sessionContext) => crowd(floor, 300, sessionContext))),
      },
      bars: [{ measure: "completed", atLeast: 300 }],
    }),
    row({
      name: "1,000 turns",
      measures: { "heap growth": "MB" },
      contestants: {
        ours: once(
          withModel((sessionContext) =>
            heapGrowth(ephemeral(ours), { threads: 8, turns: 125 }, sessionContext),
          ),
        ),
      },
      bars: [{ measure: "heap growth", atMost: 20 }],
    }),
    row({
      name: "launch and first turn",
      measures: "ms",
      contestants: {
        ...onAppServer((contender, sessionContext) => firstTurn(contender, sessionContext)),
        "@openai/codex-sdk": withModel((sessionContext) => firstTurn(codexSdk, sessionContext)),
      },
    }),
  ],
});

type Measurement<Sample> = (model: Model, signal: AbortSignal) => Promise<Sample>;

function withModel<Sample>(
  measure: (sessionContext: SessionContext) => Promise<Sample>,
): Measurement<Sample> {
  return (model, signal) => measure({ model, signal });
}

function onAppServer<Sample>(
  measure: (contender: AppServerContender, sessionContext: SessionContext) => Promise<Sample>,
): { ours: Measurement<Sample>; floor: Measurement<Sample> } {
  return {
    ours: withModel((sessionContext) => measure(ours, sessionContext)),
    floor: withModel((sessionContext) => measure(floor, sessionContext)),
  };
}
