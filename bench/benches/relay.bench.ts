import { defineBench } from "../define-bench.ts";
import { streamOutput } from "./exec-server/output.ts";
import { timed } from "./exec-server/percentiles.ts";
import { type RelayContender, type RelayContestants, runManyExecutors, startEnds } from "./relay/ends.ts";

const MB = 1_000_000;
const CALLS = 300;
const EXECUTORS = 100;
const STREAMS = 10;

/**
 * One client, one registry and rendezvous: our executor, the one in the pinned codex, and a direct socket.
 */
export default defineBench<RelayContestants>({
  name: "relay",
  description: "@codexkit/relay against a direct socket, and against Codex's own executor",
  rounds: 5,
  setup: startEnds,
  rows: (row) => [
    row({
      name: "200 MB of output",
      measures: "MB/s",
      contestants: all((it) => streamOutput(it as never, 200 * MB, false)),
      bars: [
        { against: "direct", atLeast: 0.35 },
        { against: "codex", atLeast: 1 },
      ],
    }),
    row({
      name: "20 MB through a PTY",
      measures: "MB/s",
      contestants: all((it) => streamOutput(it as never, 20 * MB, true)),
    }),
    row({
      name: "small call",
      measures: { p50: "ms", p99: "ms" },
      contestants: all(smallCall),
    }),
    row({
      name: "small call, added by the relay",
      measures: "ms",
      contestants: {
        ours: async ({ ours, direct }) => (await smallCall(ours)).p50 - (await smallCall(direct)).p50,
      },
      bars: [{ atMost: 2 }],
    }),
    row({
      name: "100 executors with 10 streams each run `true`",
      measures: { time: "ms", finished: { unit: "commands", better: "higher" } },
      contestants: { ours: (it) => runManyExecutors(it, EXECUTORS, STREAMS) },
      bars: [{ measure: "finished", atLeast: EXECUTORS * STREAMS }],
    }),
  ],
});

function smallCall({ client }: RelayContender): Promise<{ p50: number; p99: number }> {
  return timed(CALLS, () => client.request("environment/status", undefined));
}

/** The same measurement for each contestant. */
function all<Sample>(measure: (contender: RelayContender) => Promise<Sample>) {
  return {
    ours: (it: RelayContestants) => measure(it.ours),
    plain: (it: RelayContestants) => measure(it.plain),
    codex: (it: RelayContestants) => measure(it.codex),
    direct: (it: RelayContestants) => measure(it.direct),
  };
}
