import type { Contender } from "./servers.ts";

/** Returns the milliseconds until the last of many processes that were started together has closed. */
export async function manyAtOnce({ client, folder }: Contender, count: number): Promise<number> {
  const start = performance.now();
  await Promise.all(
    Array.from({ length: count }, async () => {
      const process = await client.start({ argv: ["/bin/true"], cwd: folder });
      await process.wait();
    }),
  );
  return performance.now() - start;
}

/** Returns the MB per second of many processes that write concurrently. */
export async function outputOfMany(
  { client, folder }: Contender,
  count: number,
  bytes: number,
): Promise<number> {
  let received = 0;
  const start = performance.now();
  await Promise.all(
    Array.from({ length: count }, async () => {
      const process = await client.start({
        argv: ["/usr/bin/head", "-c", String(bytes), "/dev/zero"],
        cwd: folder,
        onOutput: (output) => {
          received += output.bytes.length;
        },
      });
      await process.wait();
    }),
  );
  const seconds = (performance.now() - start) / 1000;
  if (received !== count * bytes) throw new Error(`${received} of ${count * bytes} bytes came`);
  return (count * bytes) / 1_000_000 / seconds;
}
