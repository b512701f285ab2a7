import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface CuttableProxy extends AsyncDisposable {
  readonly url: string;
  /** How many connections came through. */
  readonly connections: number;
  /** Cuts every connection that is open now, as a broken network would. */
  cut(): void;
}

/** A TCP proxy before a server, whose connections can be cut. */
export async function cuttableProxy(url: string): Promise<CuttableProxy> {
  const { hostname, port } = new URL(url);
  const open = new Set<Socket>();
  let connections = 0;
  const server = createServer((client) => {
    connections += 1;
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        open.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.pipe(client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    url: `ws://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`,
    get connections() {
      return connections;
    },
    cut,
    [Symbol.asyncDispose]: async () => {
      cut();
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}
