import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface FaultyServerOptions {
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Answers a request instead of the daemon. */
export interface Override {
  readonly status?: number;
  /** Sent as JSON; as `application/problem+json` from status 400 on. */
  readonly json?: unknown;
  /** Waited for before the response is sent. */
  readonly after?: Promise<void>;
}

/** A server in front of a daemon's handler that misbehaves on request. */
export class FaultyServer implements AsyncDisposable {
  readonly #options: FaultyServerOptions;
  readonly #overrides = new Map<string, (request: IncomingMessage) => Override | undefined>();
  readonly #sockets = new Set<Socket>();
  readonly #streams = new Set<ServerResponse>();
  readonly #held: (() => void)[] = [];
  #server: Server | undefined;
  #port = 0;
  #isStalled = false;
  #pieceBytes: number | undefined;
  #stallAfterBytes: number | undefined;

  constructor(options: FaultyServerOptions) {
    this.#options = options;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, again at the same port after `refuse`. */
  async listen(): Promise<void> {
    const server = createServer((request, response) => this.#handle(request, response));
    server.on("upgrade", (request, socket, head) => this.#options.upgrade(request, socket, head));
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.listen(this.#port, "127.0.0.1");
    await once(server, "listening");
    this.#server = server;
    this.#port = (server.address() as AddressInfo).port;
  }

  /** Ends all connections and refuses new ones, as if the daemon had been killed. */
  async refuse(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const closed = once(server, "close");
    server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** Ends the open event streams. The client may connect again. */
  closeStreams(): void {
    for (const response of this.#streams) response.destroy();
  }

  /** The number of open event streams. */
  get openStreams(): number {
    return this.#streams.size;
  }

  /** Sends event streams in pieces of this many bytes, which split messages and characters. Undefined: as they come. */
  splitStreams(bytes: number | undefined): void {
    this.#pieceBytes = bytes;
  }

  /** Keeps event streams open without sending anything, heartbeats included, until `resume`. */
  stall(): void {
    this.#isStalled = true;
  }

  /** Stalls the event streams once this many more bytes were sent. */
  stallAfter(bytes: number): void {
    this.#stallAfterBytes = bytes;
    this.splitStreams(4096);
  }

  resume(): void {
    this.#isStalled = false;
    this.#stallAfterBytes = undefined;
    for (const release of this.#held.splice(0)) release();
  }

  /** Answers an operation, such as `GET /models`, instead of the daemon. Returns a function that ends this. */
  override(
    operation: string,
    answer: Override | ((request: IncomingMessage) => Override | undefined),
  ): () => void {
    this.#overrides.set(operation, typeof answer === "function" ? answer : () => answer);
    return () => void this.#overrides.delete(operation);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.resume();
    await this.refuse();
  }

  #handle(request: IncomingMessage, response: ServerResponse): void {
    const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
    const override = this.#overrides.get(`${request.method} ${path}`)?.(request);
    if (override) return void respond(request, response, override);
    if (request.headers.accept?.includes("text/event-stream")) this.#followStream(response);
    this.#options.handler(request, response);
  }

  #followStream(response: ServerResponse): void {
    this.#streams.add(response);
    response.once("close", () => this.#streams.delete(response));
    const write = response.write.bind(response) as (chunk: Uint8Array) => boolean;
    let pending = Promise.resolve();
    response.write = ((chunk: Uint8Array): boolean => {
      if (!this.#isStalled && this.#pieceBytes === undefined) return write(chunk);
      const writeIfOpen = (piece: Uint8Array): boolean => !response.writableEnded && write(piece);
      pending = pending.then(async () => this.#writeSlowly(chunk, writeIfOpen));
      return true;
    }) as typeof response.write;
  }

  async #writeSlowly(chunk: Uint8Array, write: (chunk: Uint8Array) => boolean): Promise<void> {
    const bytes = this.#pieceBytes ?? chunk.length;
    for (let at = 0; at < chunk.length; at += bytes) {
      if (this.#isStalled) await new Promise<void>((resolve) => this.#held.push(resolve));
      write(chunk.subarray(at, at + bytes));
      if (this.#stallAfterBytes !== undefined) {
        this.#stallAfterBytes -= bytes;
        if (this.#stallAfterBytes <= 0) this.#isStalled = true;
      }
      // A piece of its own: writes of one turn of the event loop are sent together.
      await new Promise(setImmediate);
    }
  }
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { status = 200, json, after }: Override,
): Promise<void> {
  request.resume();
  await after;
  const type = status >= 400 ? "application/problem+json" : "application/json";
  response.writeHead(status, { "content-type": type, "cache-control": "no-store" });
  response.end(json === undefined ? undefined : JSON.stringify(json));
}
