// A child process that builds its bytes, reports "ready", and on the first byte of stdin writes them as fast
// as the pipe accepts them: about four times as fast as the floor reads, so that it is never the bottleneck.
// Arguments: the framing, then `notifications COUNT` or `long BYTES`.

import { once } from "node:events";

import { feedOf, type Feed } from "./feed.ts";
import type { Framing } from "./framing.ts";

const [framing, kind, size] = process.argv.slice(2);
const { chunks, times } = feedOf({ kind, size: Number(size) } as Feed, framing as Framing);

process.send?.("ready");
// Stdin keeps flowing after the first bytes, so that this process lives until it is killed or its parent has
// exited: its exit would be treated as a failure while the parent is still reading.
await once(process.stdin, "data");
for (let time = 0; time < times; time += 1) {
  for (const chunk of chunks) {
    // Without waiting, everything would be queued in memory first.
    if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
  }
}
