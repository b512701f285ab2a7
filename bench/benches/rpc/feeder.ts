// A child process: builds its bytes, says "ready", and on the first byte of stdin writes them as fast as the
// pipe takes them: about four times as fast as the floor reads, so that it is never what is measured.
// Arguments: the framing, then `notifications COUNT` or `long BYTES`.

import { once } from "node:events";

import { feedOf, type Feed } from "./feed.ts";
import type { Framing } from "./framing.ts";

const [framing, kind, size] = process.argv.slice(2);
const { chunks, times } = feedOf({ kind, size: Number(size) } as Feed, framing as Framing);

process.send?.("ready");
// Stdin flows on after the first bytes, so that this process lives until it is killed or its parent is gone: its end
// would be taken for a failure while the parent still reads.
await once(process.stdin, "data");
for (let time = 0; time < times; time += 1) {
  for (const chunk of chunks) {
    // Without the wait, everything would be queued in memory first.
    if (!process.stdout.write(chunk)) await once(process.stdout, "drain");
  }
}
