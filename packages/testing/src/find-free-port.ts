import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Finds a free port, for a server that is restarted at the same address. The port is below the range that the system assigns
 * automatically, so that no other test gets it before the server listens.
 */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    const server = createServer().listen(port, "127.0.0.1");
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
