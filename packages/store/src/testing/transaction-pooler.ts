import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageSplitter, targetOf } from "./postgres-proxy.ts";

/** The process ID reported to clients. Poolers make it up, because no server process belongs to a client. */
const INVENTED_PID = 0x0bad_cafe;
const PROTOCOL = 196_608;

/** Type of a client's last message. */
const TERMINATE = "X";
/** Type of the last message of a response. Its content says whether a transaction is open. */
const READY = "Z";
const IDLE = "I";

/**
 * A connection pooler in transaction mode, like PgBouncer: each transaction of a client runs on any server
 * connection. Outside a transaction nothing belongs to a client: no settings, no locks, no notifications.
 */
export class TransactionPooler implements AsyncDisposable {
  /** URL of the same database through the pooler. */
  readonly url: string;
  readonly #folder: string;
  readonly #server: Server;
  readonly #target: string;
  readonly #clients = new Set<Socket>();
  readonly #all: Backend[] = [];
  /**
   * Idle server connections, longest idle first. Every transaction gets a different one, which exposes leaked
   * state.
   */
  readonly #idle: Backend[] = [];
  readonly #waiting: ((backend: Backend) => void)[] = [];

  private constructor(url: string, target: string, folder: string) {
    const through = new URL(url);
    through.port = "";
    through.searchParams.set("host", folder);
    this.url = through.href;
    this.#target = target;
    this.#folder = folder;
    this.#server = createServer((socket) => {
      // A client may disconnect in the middle of a connection attempt.
      this.#serve(socket).catch(() => socket.destroy());
    });
  }

  /** @param connections Number of server connections. Default: 4. */
  static async start(url: string, { connections = 4 } = {}): Promise<TransactionPooler> {
    const folder = await mkdtemp(join(tmpdir(), "pg-pooler-"));
    const pooler = new TransactionPooler(url, url, folder);
    for (let count = 0; count < connections; count += 1) await pooler.#addBackend();
    pooler.#server.listen(join(folder, ".s.PGSQL.5432"));
    await once(pooler.#server, "listening");
    return pooler;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.destroy();
    for (const { socket } of this.#all) socket.destroy();
    const closed = once(this.#server, "close");
    this.#server.close();
    await closed;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #addBackend(): Promise<void> {
    const backend = await Backend.open(this.#target);
    this.#all.push(backend);
    this.#release(backend);
  }

  #release(backend: Backend): void {
    backend.onMessage = () => {};
    const next = this.#waiting.shift();
    if (next) next(backend);
    else this.#idle.push(backend);
  }

  async #acquire(): Promise<Backend> {
    const idle = this.#idle.shift();
    if (idle) return idle;
    const { promise, resolve } = Promise.withResolvers<Backend>();
    this.#waiting.push(resolve);
    return promise;
  }

  async #serve(client: Socket): Promise<void> {
    this.#clients.add(client);
    client.on("error", () => {});
    let backend: Backend | undefined;
    client.on("close", () => {
      this.#clients.delete(client);
      // In the middle of a transaction: the server rolls back when its connection closes.
      if (!backend) return;
      backend.socket.destroy();
      backend = undefined;
      void this.#addBackend().catch(() => {});
    });
    const split = messageSplitter();
    let startup = Buffer.alloc(0);
    let isStarted = false;
    for await (const data of client as AsyncIterable<Buffer>) {
      let rest = data;
      if (!isStarted) {
        startup = Buffer.concat([startup, data]);
        if (startup.length < 4 || startup.length < startup.readUInt32BE(0)) continue;
        rest = startup.subarray(startup.readUInt32BE(0));
        isStarted = true;
        client.write(greeting());
      }
      for (const message of split(rest)) {
        if (typeOf(message) === TERMINATE) return void client.end();
        if (!backend) {
          const acquired = await this.#acquire();
          if (client.destroyed) return this.#release(acquired);
          backend = acquired;
          acquired.onMessage = (answer) => {
            client.write(answer);
            if (typeOf(answer) !== READY || answer.toString("latin1", 5) !== IDLE) return;
            backend = undefined;
            this.#release(acquired);
          };
        }
        backend.socket.write(message);
      }
    }
  }
}

class Backend {
  readonly socket: Socket;
  /** Receives data from the server. Without a client, the data is dropped. */
  onMessage: (message: Buffer) => void = () => {};

  private constructor(socket: Socket) {
    this.socket = socket;
    const split = messageSplitter();
    socket.on("error", () => {});
    socket.on("data", (data: Buffer) => {
      for (const message of split(data)) this.onMessage(message);
    });
  }

  static async open(url: string): Promise<Backend> {
    const { username, pathname } = new URL(url);
    const backend = new Backend(connect(targetOf(url)));
    const isReady = Promise.withResolvers<void>();
    backend.onMessage = (message) => {
      if (typeOf(message) === READY) isReady.resolve();
    };
    backend.socket.write(startupMessage({ user: username, database: pathname.slice(1) }));
    await isReady.promise;
    return backend;
  }
}

function typeOf(message: Buffer): string {
  return message.toString("latin1", 0, 1);
}

function startupMessage(parameters: Readonly<Record<string, string>>): Buffer {
  const text = Object.entries(parameters).flat().join("\0");
  const content = Buffer.from(`${text}\0\0`);
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8, 0);
  head.writeUInt32BE(PROTOCOL, 4);
  return Buffer.concat([head, content]);
}

/** Builds the greeting: no password, the made-up process ID, and the state "idle". */
function greeting(): Buffer {
  const authenticated = toMessage("R", Buffer.alloc(4));
  const key = Buffer.alloc(8);
  key.writeUInt32BE(INVENTED_PID, 0);
  return Buffer.concat([authenticated, toMessage("K", key), toMessage(READY, Buffer.from(IDLE))]);
}

function toMessage(type: string, content: Buffer): Buffer {
  const head = Buffer.alloc(5);
  head.write(type, "latin1");
  head.writeUInt32BE(content.length + 4, 1);
  return Buffer.concat([head, content]);
}
