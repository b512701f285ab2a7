import { getRequestListener } from "@hono/node-server";
import { messageOf } from "@codexkit/rpc/async";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { RelayError } from "../../errors.ts";
import type { RegistryLimits } from "../limits.ts";

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly limits: RegistryLimits;
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Interval at which connections are checked for late headers. */
const CHECK_MS = 1_000;
const REQUEST_MS = 30_000;
/** Interval at which idle connections are closed while the server shuts down. */
const SWEEP_MS = 20;

/** A hono app. Declared here, because hono's declarations require TypeScript 5.7. */
interface RequestHandler {
  readonly fetch: (request: Request, bindings: object) => Response | Promise<Response>;
}

/** The listening server of a registry. */
export class HttpServer {
  readonly #server: Server;
  #closed: Promise<unknown> | undefined;
  #sweep: NodeJS.Timeout | undefined;
  /** The URL for programs on this machine. */
  readonly url: string;

  private constructor(server: Server, scheme: "http" | "https") {
    this.#server = server;
    const { port, family, address } = server.address() as AddressInfo;
    this.url = `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  static async listen(
    app: RequestHandler,
    { host, port, tls, limits, onUpgrade }: ListenOptions,
  ): Promise<HttpServer> {
    const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
    const settings = {
      headersTimeout: limits.headersMs,
      requestTimeout: Math.max(REQUEST_MS, limits.headersMs),
      connectionsCheckingInterval: Math.min(CHECK_MS, limits.headersMs),
      noDelay: true,
    };
    const handler = (...[request, response]: Parameters<typeof listener>): void =>
      void listener(request, response);
    const server = tls
      ? createSecureServer({ ...settings, ...tls, handshakeTimeout: limits.headersMs }, handler)
      : createServer(settings, handler);
    server.on("upgrade", onUpgrade);
    server.maxConnections = limits.connections;
    server.listen(port, host);
    try {
      await once(server, "listening");
    } catch (error) {
      const reason = messageOf(error);
      throw new RelayError("bad_option", `Can't listen on ${host}:${port}: ${reason}`, { cause: error });
    }
    return new HttpServer(server, tls ? "https" : "http");
  }

  /** Refuses new connections and closes idle ones from now on. Requests and WebSockets continue. */
  stopListening(): void {
    if (this.#closed) return;
    this.#closed = once(this.#server, "close");
    this.#server.close();
    this.#sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_MS);
  }

  /** Waits until all connections have ended. Closes the remaining ones after a grace period. */
  async close(graceMs: number): Promise<void> {
    this.stopListening();
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await this.#closed;
    clearInterval(this.#sweep);
    clearTimeout(timer);
  }
}

function createSecureServer(...args: Parameters<typeof createTlsServer>): Server {
  try {
    return createTlsServer(...args);
  } catch (error) {
    throw new RelayError(
      "bad_option",
      "The certificate (--tls-cert) and its key (--tls-key) can't be used. Expected PEM, and a key that belongs to the certificate.",
      { cause: error },
    );
  }
}
