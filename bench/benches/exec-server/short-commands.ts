import { timed } from "./percentiles.ts";
import type { Contender } from "./servers.ts";

export function shortCommands(
  { client, folder }: Contender,
  times: number,
): Promise<{ p50: number; p99: number }> {
  return timed(times, async () => {
    const process = await client.start({ argv: ["/bin/true"], cwd: folder });
    await process.wait();
  });
}
