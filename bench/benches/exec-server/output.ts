import type { Contender } from "./servers.ts";

/** Streams output and counts every byte. Returns the MB per second. */
export async function streamOutput(
  { client, folder }: Contender,
  bytes: number,
  tty: boolean,
): Promise<number> {
  let received = 0;
  const start = performance.now();
  const process = await client.start({
    argv: ["/usr/bin/head", "-c", String(bytes), "/dev/zero"],
    cwd: folder,
    tty,
    onOutput: (output) => {
      received += output.bytes.length;
    },
  });
  await process.wait();
  const seconds = (performance.now() - start) / 1000;
  if (received !== bytes) throw new Error(`${received} of ${bytes} bytes came`);
  return bytes / 1_000_000 / seconds;
}
