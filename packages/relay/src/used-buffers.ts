import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Less than the amount at which V8 reacts by itself. */
const COLLECT_AFTER_BYTES = 12_000_000;

let usedBytes = 0;

/**
 * Counts the bytes of buffers that are no longer needed, and frees them from time to time if the program exposes its garbage
 * collector. V8 knows buffers by the memory that they take outside of its heap, and reacts to that with a collection of the
 * whole heap each time: more than half of the processor time of a process that passes data on. New buffers are freed by a
 * collection of the young generation too, which takes less than a millisecond.
 */
export function countUsedBuffers(bytes: number): void {
  usedBytes += bytes;
  if (usedBytes < COLLECT_AFTER_BYTES) return;
  usedBytes = 0;
  globalThis.gc?.({ type: "minor" });
}

/**
 * Prepares a program that passes on much data, which is already running, as flags of `node` would. Programs of this package
 * call it, the library does not.
 */
export function tuneGarbageCollector(): void {
  setFlagsFromString("--expose-gc");
  globalThis.gc ??= runInNewContext("gc") as NodeJS.GCFunction;
  // V8 collects the whole heap when it has grown by a factor, which becomes smaller the more time collections take. The heap
  // is small, so that the buffers in use exceed even the first factor, and a busy program would do nothing else in the end.
  setFlagsFromString("--heap-growing-percent=200");
}
