import { defineBench } from "../define-bench.ts";
import { allAtOnce, oneByOne } from "./ai-sdk/calls.ts";
import { codexAppServer } from "./ai-sdk/codex-app-server.ts";
import { codexCli } from "./ai-sdk/codex-cli.ts";
import type { Contender } from "./ai-sdk/contender.ts";
import { isolatedBursts } from "./ai-sdk/bursts.ts";
import { timeToFirstToken } from "./ai-sdk/first-token.ts";
import { floor } from "./ai-sdk/floor.ts";
import { ours } from "./ai-sdk/ours.ts";
import { processPerRequest } from "./ai-sdk/process-per-request.ts";
import type { SessionContext } from "./turns/in-session.ts";
import { startModel, type Model } from "./turns/start-model.ts";
import type { Effort } from "./turns/stopwatch.ts";

const EFFORT = { time: "ms", "client cpu": "ms" } as const;

/** Faster than any peer, and hardly slower than no provider at all. */
const BARS = [
  { measure: "time", against: "floor", atMost: 1.15 },
  { measure: "time", against: "codex-cli", atMost: 1 },
  { measure: "time", against: "codex-app-server", atMost: 1 },
] as const;

/** As fast as either peer, within the variation between two runs of the same program. */
const ties = <Name extends string>(
  measure: Name,
): readonly {
  readonly measure: Name;
  readonly against: "codex-cli" | "codex-app-server";
  readonly atMost: number;
}[] => [
  { measure, against: "codex-cli", atMost: 1.05 },
  { measure, against: "codex-app-server", atMost: 1.05 },
];

/**
 * Calls of `doGenerate` on the real codex and a scripted model, each on its own thread. A model that answers
 * immediately shows the client's share besides codex's own; one that takes 200 ms leaves time for work ahead.
 */
export default defineBench({
  name: "ai-sdk",
  description:
    "calls of doGenerate on the real codex, against two other providers and the floor (the bare wire)",
  rounds: 11,
  setup: (signal) => startModel(signal, new URL("./ai-sdk/script.ts", import.meta.url)),
  rows: (row) => [
    row({
      name: "10 calls one by one",
      measures: EFFORT,
      contestants: everyContestant((contender, sessionContext) =>
        oneByOne(contender, 10, "at once", sessionContext),
      ),
      bars: BARS,
    }),
    row({
      name: "10 calls one by one, 200 ms of model time",
      measures: EFFORT,
      contestants: everyContestant((contender, sessionContext) =>
        oneByOne(contender, 10, "slowly", sessionContext),
      ),
      bars: BARS,
    }),
    row({
      name: "8 calls at once, 200 ms of model time",
      measures: EFFORT,
      contestants: everyContestant((contender, sessionContext) => allAtOnce(contender, 8, sessionContext)),
      bars: BARS,
    }),
    row({
      name: "8 calls at once, 12 s after the last ones, 200 ms of model time",
      measures: EFFORT,
      contestants: everyContestant((contender, sessionContext) =>
        isolatedBursts(contender, 8, sessionContext),
      ),
      bars: ties("time"),
    }),
    row({
      name: "time to the first token of a stream",
      measures: { "first token": "ms" },
      contestants: {
        ours: (model, signal) => timeToFirstToken(ours, 10, { model, signal }),
        "codex-cli": (model, signal) => timeToFirstToken(codexCli, 10, { model, signal }),
        "codex-app-server": (model, signal) => timeToFirstToken(codexAppServer, 10, { model, signal }),
      },
      bars: ties("first token"),
    }),
    row({
      name: "a process per request",
      measures: { import: "ms", total: "ms", closed: "ms" },
      contestants: {
        ours: (model, signal) => processPerRequest("ours", { model, signal }),
        "codex-cli": (model, signal) => processPerRequest("codex-cli", { model, signal }),
        "codex-app-server": (model, signal) => processPerRequest("codex-app-server", { model, signal }),
      },
      bars: [...ties("import"), ...ties("total"), ...ties("closed")],
    }),
  ],
});

type Measurement = (model: Model, signal: AbortSignal) => Promise<Effort>;

function everyContestant(
  measure: (contender: Contender, sessionContext: SessionContext) => Promise<Effort>,
): Record<"ours" | "floor" | "codex-cli" | "codex-app-server", Measurement> {
  const by =
    (contender: Contender): Measurement =>
    (model, signal) =>
      measure(contender, { model, signal });
  return {
    ours: by(ours),
    floor: by(floor),
    "codex-cli": by(codexCli),
    "codex-app-server": by(codexAppServer),
  };
}
