import type { Contender } from "./servers.ts";

const IN_FLIGHT = 64;

/** Returns the calls per second, with a fixed number of calls in flight. */
export async function smallCalls({ client }: Contender, calls: number): Promise<number> {
  let left = calls;
  const start = performance.now();
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await client.request("environment/status", undefined);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  return (calls * 1000) / (performance.now() - start);
}
