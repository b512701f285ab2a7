import type { BenchStore } from "./setup.ts";

const READS = 300;

/** Returns the milliseconds for the newest 50 items of a session. */
export async function readFirstPage(
  { database, ...sessions }: BenchStore,
  session: "long" | "short",
): Promise<number> {
  const sessionId = sessions[session];
  const begin = performance.now();
  for (let count = 0; count < READS; count += 1) {
    const items = await database.journal.items(sessionId, { limit: 50 });
    if (items.length !== 50) throw new Error(`Expected 50 items, but got ${items.length}.`);
  }
  return (performance.now() - begin) / READS;
}
