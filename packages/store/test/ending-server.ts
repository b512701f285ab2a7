import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import type { ClientConfig } from "pg";

/** A message of the server: its type, its length, and its fields. */
function message(type: string, body: Buffer): Buffer {
  const header = Buffer.alloc(5);
  header.write(type);
  header.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
}

const AUTHENTICATED = message("R", Buffer.alloc(4));
const READY = message("Z", Buffer.from("I"));
/** What a server process sends when the postmaster was killed. */
const SHUTDOWN = message(
  "E",
  Buffer.from("SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0"),
);

/** A server that ends every connection in the moment in which it is ready, like a killed Postgres. */
export async function startEndingServer(): Promise<
  AsyncDisposable & { readonly config: ClientConfig; readonly connections: number }
> {
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    socket.once("data", () => socket.end(Buffer.concat([AUTHENTICATED, READY, SHUTDOWN])));
    socket.on("error", () => {});
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  return {
    config: { host: "127.0.0.1", port, user: "test", database: "test" },
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: async () => {
      server.close();
      await once(server, "close");
    },
  };
}
