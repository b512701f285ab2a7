/** Below `MALLOC_MMAP_THRESHOLD_` of the starting script, so that the blocks come from the heap. */
const BLOCK_BYTES = 15 * 1024 * 1024;

/** Together more than `MALLOC_TRIM_THRESHOLD_`. */
const BLOCKS = 3;

/**
 * Makes glibc return the free end of its heap to the system. It does so only when a block is freed and the free end is then
 * larger than a threshold. The blocks are never written to, so they occupy address space but no memory.
 */
export function trimHeap(): void {
  const blocks = Array.from({ length: BLOCKS }, () => Buffer.allocUnsafeSlow(BLOCK_BYTES));
  for (const { buffer } of blocks) buffer.transfer(0);
}
