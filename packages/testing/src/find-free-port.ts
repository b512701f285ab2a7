import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Finds a port that is free now, for a server that must be found again at the same address. It is below the ports that the system
 * assigns, so that no other test gets it before the server listens.
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
