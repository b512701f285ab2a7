import type { Contender } from "./servers.ts";

/**
 * Starts short commands, eight at a time like a busy client. Returns the time per start and how many were
 * refused.
 */
export async function manyStarts(
  { client, folder }: Contender,
  times: number,
): Promise<{ time: number; refused: number }> {
  let refused = 0;
  let left = times;
  const begun = performance.now();
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      try {
        const process = await client.start({ argv: ["/bin/true"], cwd: folder });
        await process.wait();
      } catch {
        refused += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return { time: (performance.now() - begun) / times, refused };
}
