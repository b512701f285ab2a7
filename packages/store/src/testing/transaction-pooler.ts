import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageSplitter, targetOf } from "./postgres-proxy.ts";

/** The process ID that clients are told. Poolers invent it, because no process of the server belongs to a client. */
const INVENTED_PID = 0x0bad_cafe;
const PROTOCOL = 196_608;

/** The last message of a client. */
const TERMINATE = "X";
/** The last message of an answer. Its content says whether a transaction is open. */
const READY = "Z";
const IDLE = "I";

/**
 * A connection pooler in transaction mode, as PgBouncer is: each transaction of a client runs on any connection of the server, so
 * that nothing belongs to a client outside a transaction, neither settings nor locks nor notifications.
 */
export class TransactionPooler implements AsyncDisposable {
  /** URL of the same database through the pooler. */
  readonly url: string;
  readonly #folder: string;
  readonly #server: Server;
  readonly #target: string;
  readonly #clients = new Set<Socket>();
  readonly #all: Backend[] = [];
  /** Connections of the server, the longest idle first: every transaction gets another one, which shows what leaks. */
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
      // A client that ends its connection in the middle is nothing special.
      this.#serve(socket).catch(() => socket.destroy());
    });
  }

  /** @param connections Connections of the server. Default: 4. */
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

  async #take(): Promise<Backend> {
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
      // In the middle of a transaction: the server rolls back when its connection ends.
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
          const taken = await this.#take();
          if (client.destroyed) return this.#release(taken);
          backend = taken;
          taken.onMessage = (answer) => {
            client.write(answer);
            if (typeOf(answer) !== READY || answer.toString("latin1", 5) !== IDLE) return;
            backend = undefined;
            this.#release(taken);
          };
        }
        backend.socket.write(message);
      }
    }
  }
}

class Backend {
  readonly socket: Socket;
  /** Receives what the server sends. Without a client, it is dropped. */
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

/** No password, the invented process, and the state "idle". */
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
