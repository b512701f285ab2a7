import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** The name of Postgres's socket in its folder. */
const SOCKET = ".s.PGSQL.5432";

/** A message of the server: its type, such as `C` for the end of a command, and its content. */
export interface ServerMessage {
  readonly type: string;
  readonly content: string;
}

/** What happens to a message: it is forwarded, it is lost, or the connection breaks instead. */
export type ProxyAction = "forward" | "drop" | "cut";

/**
 * A proxy in front of a {@link PostgresServer} that loses messages of the server or breaks connections, as a bad network does.
 */
export class PostgresProxy implements AsyncDisposable {
  /** URL of the same database through the proxy. */
  readonly url: string;
  readonly #server: Server;
  readonly #folder: string;
  readonly #sockets: Set<Socket>;

  private constructor(url: string, server: Server, folder: string, sockets: Set<Socket>) {
    this.url = url;
    this.#server = server;
    this.#folder = folder;
    this.#sockets = sockets;
  }

  /** @param decide Called for each message of the server. */
  static async start(url: string, decide: (message: ServerMessage) => ProxyAction): Promise<PostgresProxy> {
    const target = new URL(url);
    const socketFolder = target.searchParams.get("host") ?? "";
    const folder = await mkdtemp(join(tmpdir(), "pg-proxy-"));
    const sockets = new Set<Socket>();
    const server = createServer((client) => {
      const backend = connect(join(socketFolder, SOCKET));
      const end = (): void => {
        for (const socket of [client, backend]) {
          socket.destroy();
          sockets.delete(socket);
        }
      };
      for (const socket of [client, backend]) {
        sockets.add(socket);
        socket.on("error", () => {});
        socket.on("close", end);
      }
      client.pipe(backend);
      backend.on(
        "data",
        splitMessages((bytes, message) => {
          const action = decide(message);
          if (action === "forward") client.write(bytes);
          else if (action === "cut") end();
        }),
      );
    });
    server.listen(join(folder, SOCKET));
    await once(server, "listening");
    target.searchParams.set("host", folder);
    return new PostgresProxy(target.href, server, folder, sockets);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** A message is its type (one byte), its length without the type (four bytes), and its content. */
function splitMessages(onMessage: (bytes: Buffer, message: ServerMessage) => void): (bytes: Buffer) => void {
  let unread = Buffer.alloc(0);
  return (bytes) => {
    unread = Buffer.concat([unread, bytes]);
    while (unread.length >= 5 && unread.length > unread.readUInt32BE(1)) {
      const message = unread.subarray(0, unread.readUInt32BE(1) + 1);
      unread = unread.subarray(message.length);
      onMessage(message, {
        type: message.toString("latin1", 0, 1),
        content: message.toString("utf8", 5),
      });
    }
  };
}
