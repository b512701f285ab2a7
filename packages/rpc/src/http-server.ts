import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { ListenAddress } from "./listen-address.ts";

/** Interval at which idle connections are closed while the server shuts down. */
const SWEEP_MS = 20;

/** A listening HTTP server that closes gracefully. */
export class HttpServer {
  readonly #server: Server;
  #closed: Promise<unknown> | undefined;
  #sweep: NodeJS.Timeout | undefined;
  /** The URL for programs on this machine, without a trailing slash. */
  readonly url: string;

  private constructor(server: Server, scheme: "http" | "https") {
    this.#server = server;
    const { port, family, address } = server.address() as AddressInfo;
    this.url = `${scheme}://${family === "IPv6" ? `[${address}]` : address}:${port}`;
  }

  /** Starts to listen. Rejects with the error of the server, for example if the port is in use. */
  static async listen(
    server: Server,
    { host, port, scheme = "http" }: ListenAddress & { readonly scheme?: "http" | "https" },
  ): Promise<HttpServer> {
    server.listen(port, host);
    await once(server, "listening");
    return new HttpServer(server, scheme);
  }

  /** Stops accepting connections and closes idle ones from now on. Requests and WebSockets continue. */
  stopListening(): void {
    if (this.#closed) return;
    this.#closed = once(this.#server, "close");
    this.#server.close();
    // A connection becomes idle shortly after its response has ended.
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
