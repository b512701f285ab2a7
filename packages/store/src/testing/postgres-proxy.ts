import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NetConnectOpts } from "node:net";
import { FaultProxy, type FaultMode, type Filtered } from "./fault-proxy.ts";

const DEFAULT_PORT = 5432;

/** A message from the server: its type, such as `C` for the end of a command, and its content. */
export interface ServerMessage {
  readonly type: string;
  readonly content: string;
}

/** What happens to a message: it is forwarded, it is dropped, or the connection is cut instead. */
export type ProxyAction = "forward" | "drop" | "cut";

export interface PostgresProxyOptions {
  /** Called for each message from the server. Default: forward all. */
  readonly decide?: (message: ServerMessage) => ProxyAction;
  /** How clients connect to the proxy. Default: a unix socket. */
  readonly transport?: "unix" | "tcp";
}

/**
 * A proxy in front of a {@link PostgresServer} that simulates a bad network, or drops single messages from
 * the server.
 *
 * @example
 * await using proxy = await PostgresProxy.start(await server.createDatabase(), { transport: "tcp" });
 * await using store = await openStore({ location: proxy.url, migrations });
 * proxy.setMode("blackhole");
 */
export class PostgresProxy implements AsyncDisposable {
  /** URL of the same database through the proxy. */
  readonly url: string;
  readonly #proxy: FaultProxy;
  readonly #folder: string;

  private constructor(url: string, proxy: FaultProxy, folder: string) {
    this.url = url;
    this.#proxy = proxy;
    this.#folder = folder;
  }

  static async start(
    url: string,
    { decide, transport = "unix" }: PostgresProxyOptions = {},
  ): Promise<PostgresProxy> {
    const folder = await mkdtemp(join(tmpdir(), "pg-proxy-"));
    const proxy = await FaultProxy.start({
      target: targetOf(url),
      ...(transport === "unix" && { path: socketPath(folder, DEFAULT_PORT) }),
      ...(decide && { filter: () => filterMessages(decide) }),
    });
    const through = new URL(url);
    if (transport === "unix") {
      through.port = "";
      through.searchParams.set("host", folder);
    } else {
      through.searchParams.delete("host");
      through.hostname = "127.0.0.1";
      through.port = `${proxy.port}`;
    }
    return new PostgresProxy(through.href, proxy, folder);
  }

  get mode(): FaultMode {
    return this.#proxy.mode;
  }

  /** Number of connections. */
  get size(): number {
    return this.#proxy.size;
  }

  /** @param options `delayMs` for `delay`, in each direction. Default: 100. */
  setMode(mode: FaultMode, options?: { readonly delayMs?: number }): void {
    this.#proxy.setMode(mode, options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** Where a `postgres://` URL connects to: a unix socket in the folder `?host=`, or TCP. */
export function targetOf(url: string): NetConnectOpts {
  const { searchParams, hostname, port: number } = new URL(url);
  const port = number === "" ? DEFAULT_PORT : Number(number);
  const folder = searchParams.get("host");
  return folder === null ? { host: hostname, port } : { path: socketPath(folder, port) };
}

function socketPath(folder: string, port: number): string {
  return join(folder, `.s.PGSQL.${port}`);
}

function filterMessages(decide: (message: ServerMessage) => ProxyAction): (data: Buffer) => Filtered {
  const split = messageSplitter();
  return (data) => {
    const forward: Buffer[] = [];
    for (const bytes of split(data)) {
      const message = { type: bytes.toString("latin1", 0, 1), content: bytes.toString("utf8", 5) };
      const action = decide(message);
      if (action === "cut") return { forward, isCut: true };
      if (action === "forward") forward.push(bytes);
    }
    return { forward, isCut: false };
  };
}

/**
 * Splits a stream into messages. Each has a type (one byte), a length that excludes the type (four bytes),
 * and its content.
 */
export function messageSplitter(): (data: Buffer) => readonly Buffer[] {
  let unread = Buffer.alloc(0);
  return (data) => {
    unread = Buffer.concat([unread, data]);
    const messages: Buffer[] = [];
    while (unread.length >= 5 && unread.length > unread.readUInt32BE(1)) {
      const message = unread.subarray(0, unread.readUInt32BE(1) + 1);
      unread = unread.subarray(message.length);
      messages.push(message);
    }
    return messages;
  };
}
