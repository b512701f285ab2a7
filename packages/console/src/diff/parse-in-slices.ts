import type { ParsedDiff } from "./parse-diff.ts";

/** Duration of one slice. A frame has 16 ms. */
const SLICE_MS = 8;

/** Runs a parser without blocking the page: it pauses every few milliseconds. Rejects if the signal aborts. */
export async function parseInSlices(
  parser: Generator<undefined, ParsedDiff, undefined>,
  signal: AbortSignal,
): Promise<ParsedDiff> {
  let sliceEnd = performance.now() + SLICE_MS;
  for (;;) {
    const step = parser.next();
    if (step.done === true) return step.value;
    if (performance.now() < sliceEnd) continue;
    await nextTask();
    signal.throwIfAborted();
    sliceEnd = performance.now() + SLICE_MS;
  }
}

/** Starts a new task with a message, which is not delayed as timers are. */
async function nextTask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}
