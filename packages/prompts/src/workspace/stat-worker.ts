// A thread of a StatPool. On each request, it looks up chunks of its batch until none is left.
import { parentPort } from "node:worker_threads";
import { type StatBatch, statChunk } from "./stat-batch.ts";

/** A new batch, or a request to process the last one. */
export type StatRequest = StatBatch | "run";

let batch: StatBatch | undefined;

parentPort?.on("message", (request: StatRequest) => {
  if (request !== "run") {
    batch = request;
    return;
  }
  if (batch) runBatch(batch);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread, not a window
  parentPort?.postMessage("done");
});

function runBatch(taken: StatBatch): void {
  while (statChunk(taken));
}
