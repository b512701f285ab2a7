import { decodeJwt, type JWTPayload } from "jose";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** A connection of Codex to an exec-server. */
export interface TappedConnection {
  /** The claims of its token. Undefined if the token is not a JWT. */
  readonly claims: JWTPayload | undefined;
  /** The status of the response to its upgrade request. */
  status: number | undefined;
  /** The side that ended it. Undefined while it is open. */
  endedBy: "codex" | "server" | undefined;
  /** Number of packets that Codex has sent. */
  packets: number;
}

/** Forwards connections to an exec-server, and records the tokens that Codex sends. */
export class ExecServerTap implements AsyncDisposable {
  readonly connections: TappedConnection[] = [];
  readonly #server: Server;
  readonly #target: number;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.#target = target;
    this.#server = createServer((client) => this.#forward(client));
  }

  static async start(url: string): Promise<ExecServerTap> {
    const tap = new ExecServerTap(Number(new URL(url).port));
    tap.#server.listen(0, "127.0.0.1");
    await once(tap.#server, "listening");
    return tap;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Accepted connections whose token has this epoch. */
  ofEpoch(epoch: number): readonly TappedConnection[] {
    return this.connections.filter(({ claims, status }) => claims?.["epoch"] === epoch && status === 101);
  }

  /** Breaks all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    this.#server.close();
    await once(this.#server, "close");
  }

  #forward(client: Socket): void {
    const server = connect(this.#target, "127.0.0.1");
    this.#sockets.add(client);
    let connection: TappedConnection | undefined;
    client.once("data", (bytes: Buffer) => {
      const token = /^authorization: bearer (?<token>\S+)/im.exec(String(bytes))?.groups?.["token"];
      connection = { claims: claimsOf(token), status: undefined, endedBy: undefined, packets: 0 };
      this.connections.push(connection);
    });
    server.once("data", (bytes: Buffer) => {
      if (connection) connection.status = Number(/^HTTP\/1\.1 (\d{3})/.exec(String(bytes))?.[1]);
    });
    const end = (side: "codex" | "server") => (): void => {
      if (connection) connection.endedBy ??= side;
      client.destroy();
      server.destroy();
      this.#sockets.delete(client);
    };
    for (const event of ["end", "error", "close"]) {
      client.on(event, end("codex"));
      server.on(event, end("server"));
    }
    client.on("data", () => {
      if (connection) connection.packets += 1;
    });
    client.pipe(server);
    server.pipe(client);
  }
}

function claimsOf(token: string | undefined): JWTPayload | undefined {
  try {
    return decodeJwt(token ?? "");
  } catch {
    return undefined;
  }
}
