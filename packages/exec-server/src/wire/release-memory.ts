/**
 * Below this size, memory may be shared with other buffers, and leaving it to the collector costs nothing.
 */
const WORTH_RELEASING_BYTES = 1024 * 1024;

/**
 * Releases the memory of large buffers immediately. If it were left to the collector, a few of them would
 * make it run repeatedly. The bytes must not be shared and can't be used afterwards.
 */
export function releaseMemory(bytes: Buffer): void {
  if (bytes.length >= WORTH_RELEASING_BYTES && bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}
