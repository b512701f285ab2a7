import { defineBench } from "../define-bench.ts";
import { codexSdk, compat } from "./turns/codex-sdk.ts";
import { ephemeral, type AppServerContender } from "./turns/contender.ts";
import { crowd } from "./turns/crowd.ts";
import { deltaByDelta } from "./turns/delta-by-delta.ts";
import { firstTurn } from "./turns/first-turn.ts";
import { floor } from "./turns/floor.ts";
import { heapGrowth } from "./turns/heap-growth.ts";
import type { Surroundings } from "./turns/in-session.ts";
import { once } from "./turns/once.ts";
import { oneByOne } from "./turns/one-by-one.ts";
import { ours } from "./turns/ours.ts";
import { sideBySide } from "./turns/side-by-side.ts";
import { startModel, type Model } from "./turns/start-model.ts";

const EFFORT = { time: "ms", "client cpu": "ms" } as const;

/**
 * Whole turns, on the real codex and one scripted model. Most of the time is codex's own, the same for ours and the
 * floor; the processor time of this process shows what each of the two adds, and a regression first.
 *
 * `@openai/codex-sdk` takes fewer turns a round: each costs a process, and a round shall not last minutes. What is given
 * is for one turn.
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
        ...onAppServer((contender, surroundings) => oneByOne(contender, 50, surroundings)),
        "@openai/codex-sdk": withModel((surroundings) => oneByOne(codexSdk, 50, surroundings)),
      },
      bars: [
        { measure: "time", against: "floor", atMost: 1.1 },
        { measure: "time", against: "@openai/codex-sdk", atMost: 1 / 4 },
      ],
    }),
    row({
      name: "one by one, ephemeral",
      measures: EFFORT,
      contestants: onAppServer((contender, surroundings) => oneByOne(ephemeral(contender), 50, surroundings)),
    }),
    row({
      name: "codexkit/compat, one by one",
      measures: EFFORT,
      contestants: {
        ours: withModel((surroundings) => oneByOne(compat, 20, surroundings)),
        "@openai/codex-sdk": withModel((surroundings) => oneByOne(codexSdk, 20, surroundings)),
      },
      bars: [{ measure: "time", against: "@openai/codex-sdk", atMost: 0.6 }],
    }),
    row({
      name: "8 threads at once",
      measures: EFFORT,
      contestants: {
        ...onAppServer((contender, surroundings) =>
          sideBySide(contender, { threads: 8, turns: 6 }, surroundings),
        ),
        "@openai/codex-sdk": withModel((surroundings) =>
          sideBySide(codexSdk, { threads: 8, turns: 1 }, surroundings),
        ),
      },
      bars: [{ measure: "time", against: "floor", atMost: 1.1 }],
    }),
    row({
      name: "5,000 deltas",
      measures: EFFORT,
      contestants: onAppServer((contender, surroundings) => deltaByDelta(contender, 3, surroundings)),
      bars: [{ measure: "time", against: "floor", atMost: 1.15 }],
    }),
    row({
      name: "300 threads at once",
      measures: { completed: { unit: "threads", better: "higher" }, ...EFFORT },
      contestants: {
        ours: once(withModel((surroundings) => crowd(ours, 300, surroundings))),
        floor: once(withModel((surroundings) => crowd(floor, 300, surroundings))),
      },
      bars: [{ measure: "completed", atLeast: 300 }],
    }),
    row({
      name: "1,000 turns",
      measures: { "heap growth": "MB" },
      contestants: {
        ours: once(
          withModel((surroundings) => heapGrowth(ephemeral(ours), { threads: 8, turns: 125 }, surroundings)),
        ),
      },
      bars: [{ measure: "heap growth", atMost: 20 }],
    }),
    row({
      name: "launch and first turn",
      measures: "ms",
      contestants: {
        ...onAppServer((contender, surroundings) => firstTurn(contender, surroundings)),
        "@openai/codex-sdk": withModel((surroundings) => firstTurn(codexSdk, surroundings)),
      },
    }),
  ],
});

type Measurement<Sample> = (model: Model, signal: AbortSignal) => Promise<Sample>;

function withModel<Sample>(measure: (surroundings: Surroundings) => Promise<Sample>): Measurement<Sample> {
  return (model, signal) => measure({ model, signal });
}

function onAppServer<Sample>(
  measure: (contender: AppServerContender, surroundings: Surroundings) => Promise<Sample>,
): { ours: Measurement<Sample>; floor: Measurement<Sample> } {
  return {
    ours: withModel((surroundings) => measure(ours, surroundings)),
    floor: withModel((surroundings) => measure(floor, surroundings)),
  };
}
