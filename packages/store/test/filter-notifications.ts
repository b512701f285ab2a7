import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";

const NOTIFICATION_RESPONSE = "A".charCodeAt(0);
const SOCKET = ".s.PGSQL.5432";

/** A proxy before a Postgres on a unix socket that forwards everything except notifications. */
export async function filterNotifications(url: string): Promise<AsyncDisposable & { readonly url: string }> {
  const target = new URL(url);
  const socketFolder = target.searchParams.get("host") ?? "";
  const folder = await mkdtemp(join(tmpdir(), "proxy-"));
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const backend = connect(join(socketFolder, SOCKET));
    for (const socket of [client, backend]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => (client.destroy(), backend.destroy(), sockets.delete(socket)));
    }
    client.pipe(backend);
    let unread = Buffer.alloc(0);
    backend.on("data", (bytes) => {
      unread = Buffer.concat([unread, bytes]);
      // A message is its type, its length without the type, and the rest.
      while (unread.length >= 5 && unread.length > unread.readUInt32BE(1)) {
        const end = unread.readUInt32BE(1) + 1;
        if (unread[0] !== NOTIFICATION_RESPONSE) client.write(unread.subarray(0, end));
        unread = unread.subarray(end);
      }
    });
  });
  server.listen(join(folder, SOCKET));
  await once(server, "listening");
  target.searchParams.set("host", folder);
  return {
    url: target.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      const closed = once(server, "close");
      server.close();
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
