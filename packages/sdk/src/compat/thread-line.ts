/** The end of the last turn of each thread that has one. */
const lines = new Map<string, Promise<void>>();

/**
 * Waits until every earlier turn of this program on a thread has ended. The old package started them side by side, and
 * all but one failed. Gives the function that lets the next one in.
 */
export async function standInLine(threadId: string): Promise<() => void> {
  const before = lines.get(threadId);
  const { promise, resolve } = Promise.withResolvers<void>();
  lines.set(threadId, promise);
  await before;
  return () => {
    resolve();
    if (lines.get(threadId) === promise) lines.delete(threadId);
  };
}
