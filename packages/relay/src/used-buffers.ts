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

/** As `node --expose-gc` does, for a program that is already running. Programs of this package call it, the library does not. */
export function exposeGarbageCollector(): void {
  setFlagsFromString("--expose-gc");
  globalThis.gc ??= runInNewContext("gc") as NodeJS.GCFunction;
}
