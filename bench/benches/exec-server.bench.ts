import { defineBench } from "../define-bench.ts";
import { manyAtOnce, outputOfMany } from "./exec-server/concurrent.ts";
import { memoryOfFragments } from "./exec-server/fragments.ts";
import { manyStarts } from "./exec-server/many-starts.ts";
import { readBlocks, readFiles, writeFiles } from "./exec-server/files.ts";
import { streamOutput } from "./exec-server/output.ts";
import { residentMemory, settledMemory } from "./exec-server/resident-memory.ts";
import { sandboxedTrue, sandboxedWrites, workspacesInTurn } from "./exec-server/sandboxed.ts";
import { type Contestants, startContestants } from "./exec-server/servers.ts";
import { shortCommands } from "./exec-server/short-commands.ts";
import { smallCalls } from "./exec-server/small-calls.ts";
import type { Contender } from "./exec-server/servers.ts";

const MB = 1_000_000;

/** One client and two servers in every row: ours and the one in the pinned codex, each in its own process. */
export default defineBench<Contestants>({
  name: "exec-server",
  description: "@codexkit/exec-server against `codex exec-server`, by one client",
  rounds: 5,
  setup: startContestants,
  rows: (row) => [
    // Comes first, because memory left by earlier rows would hide what this one adds.
    row({
      name: "60 MB of fragments, memory above idle",
      measures: "MB",
      contestants: both((it) => memoryOfFragments(it, 60)),
      // Twice the largest message.
      bars: [{ atMost: 134 }],
    }),
    row({
      name: "`true`, start to closed",
      measures: { p50: "ms", p99: "ms" },
      contestants: both((it) => shortCommands(it, 60)),
      bars: [
        { measure: "p50", against: "rust", atMost: 0.1 },
        { measure: "p99", against: "rust", atMost: 1 },
      ],
    }),
    row({
      name: "200 MB of output",
      measures: "MB/s",
      contestants: both((it) => streamOutput(it, 200 * MB, false)),
      bars: [{ against: "rust", atLeast: 1.3 }],
    }),
    row({
      name: "20 MB through a PTY",
      measures: "MB/s",
      contestants: both((it) => streamOutput(it, 20 * MB, true)),
      bars: [{ against: "rust", atLeast: 1 }],
    }),
    row({
      name: "readFile of 10 MiB",
      measures: "MB/s",
      contestants: both((it) => readFiles(it, 8)),
      bars: [{ against: "rust", atLeast: 1.3 }],
    }),
    row({
      name: "writeFile of 10 MiB",
      measures: "MB/s",
      contestants: both((it) => writeFiles(it, 8)),
      bars: [{ against: "rust", atLeast: 1.3 }],
    }),
    row({
      name: "readBlock through 100 MiB",
      measures: "MB/s",
      contestants: both((it) => readBlocks(it)),
      bars: [{ against: "rust", atLeast: 1 }],
    }),
    row({
      name: "small calls, 64 in flight",
      measures: "ops/s",
      contestants: both((it) => smallCalls(it, 20_000)),
      bars: [{ against: "rust", atLeast: 1 }],
    }),
    row({
      name: "100 processes at once",
      measures: "ms",
      contestants: both((it) => manyAtOnce(it, 100)),
      bars: [{ against: "rust", atMost: 0.4 }],
    }),
    row({
      name: "100 × 1 MB at once",
      measures: "MB/s",
      contestants: both((it) => outputOfMany(it, 100, MB)),
      bars: [{ against: "rust", atLeast: 1 }],
    }),
    row({
      name: "sandboxed `true`",
      measures: { p50: "ms", p99: "ms" },
      contestants: both((it) => sandboxedTrue(it, 20)),
      bars: [{ measure: "p50", against: "rust", atMost: 1 }],
    }),
    row({
      name: "sandboxed small write",
      measures: { p50: "ms", p99: "ms" },
      contestants: both((it) => sandboxedWrites(it, 20)),
      bars: [{ measure: "p50", against: "rust", atMost: 0.2 }],
    }),
    row({
      name: "10,000 starts in a row",
      measures: { time: "ms", refused: { unit: "refused", better: "lower" } },
      // The time is per start. Codex's server starts processes sequentially, so a tenth of them is enough.
      contestants: {
        ours: ({ ours }) => manyStarts(ours, 10_000),
        rust: ({ rust }) => manyStarts(rust, 1_000),
      },
      bars: [
        { measure: "refused", atMost: 0 },
        { measure: "time", against: "rust", atMost: 1 },
      ],
    }),
    row({
      name: "16 workspaces in turn, 5 sandboxed writes each",
      measures: "ms",
      contestants: both((it) => workspacesInTurn(it, 16, 5)),
      bars: [{ against: "rust", atMost: 1 }],
    }),
    row({
      // Has no bar, because it includes the warm helpers of 16 workspaces and what both servers retain for 30
      // s.
      name: "resident memory right after the last row",
      measures: "MB",
      contestants: both((it) => residentMemory(it)),
      bars: [],
    }),
    row({
      name: "resident memory at rest, 40 s after the last row",
      measures: "MB",
      contestants: both((it) => settledMemory(it)),
      bars: [{ against: "rust", atMost: 1 }],
    }),
  ],
});

function both<Sample>(measure: (contender: Contender) => Promise<Sample>) {
  return {
    ours: ({ ours }: Contestants) => measure(ours),
    rust: ({ rust }: Contestants) => measure(rust),
  };
}
