import { defineBench } from "../define-bench.ts";
import type { Contender } from "./rpc/contender.ts";
import { floor } from "./rpc/floor.ts";
import { receiveFromPipe, receiveInProcess } from "./rpc/receive-notifications.ts";
import { receiveLongMessage } from "./rpc/receive-long-message.ts";
import { ours } from "./rpc/ours.ts";
import { roundTrips } from "./rpc/round-trips.ts";
import { vscodeJsonrpc } from "./rpc/vscode-jsonrpc.ts";

/**
 * Notifications are measured twice. A pipe from a child process is the real situation, and the bars apply to
 * it; there, the kernel and libuv take the same share from all three and make the ratios slightly better.
 * Replayed from memory, only the reader's own cost remains, so this row shows a regression first.
 */
export default defineBench({
  name: "rpc",
  description: "@codexkit/rpc against vscode-jsonrpc and the floor (split lines, JSON.parse)",
  rounds: 9,
  rows: (row) => [
    row({
      name: "notifications, pipe",
      measures: { throughput: "msg/s", "p99 of 500": "ms" },
      contestants: everyone((contender, signal) => receiveFromPipe(contender, signal)),
      bars: [
        { measure: "throughput", against: "floor", atLeast: 0.7 },
        { measure: "throughput", against: "vscode-jsonrpc", atLeast: 2 },
      ],
    }),
    row({
      name: "notifications, in process",
      measures: { throughput: "msg/s", "p99 of 500": "ms" },
      contestants: everyone((contender) => receiveInProcess(contender)),
    }),
    row({
      name: "calls, one at a time",
      measures: { throughput: "ops/s", p99: "ms" },
      contestants: everyone((contender, signal) =>
        roundTrips(contender, { calls: 5_000, inFlight: 1 }, signal),
      ),
    }),
    row({
      name: "calls, 32 in flight",
      measures: { throughput: "ops/s", p99: "ms" },
      contestants: everyone((contender, signal) =>
        roundTrips(contender, { calls: 32_000, inFlight: 32 }, signal),
      ),
    }),
    row({
      name: "one line of 32 MB, pipe",
      measures: "ms",
      contestants: everyone((contender, signal) => receiveLongMessage(contender, signal)),
      bars: [{ against: "floor", atMost: 3 }],
    }),
  ],
});

function everyone<Sample>(measure: (contender: Contender, signal: AbortSignal) => Promise<Sample>) {
  const contestant = (contender: Contender) => (_context: undefined, signal: AbortSignal) =>
    measure(contender, signal);
  return { ours: contestant(ours), floor: contestant(floor), "vscode-jsonrpc": contestant(vscodeJsonrpc) };
}
