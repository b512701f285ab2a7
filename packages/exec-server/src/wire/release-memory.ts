/** Below this, memory may be shared with other buffers, and waiting for the collector costs nothing. */
const WORTH_RELEASING_BYTES = 1024 * 1024;

/**
 * Gives the memory of large bytes back now. Left to the collector, a few of them would make it run over and over. The bytes
 * must not be shared, and can't be used afterwards.
 */
export function releaseMemory(bytes: Buffer): void {
  if (bytes.length >= WORTH_RELEASING_BYTES && bytes.buffer instanceof ArrayBuffer) bytes.buffer.transfer(0);
}
