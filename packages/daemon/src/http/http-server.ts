import { getRequestListener } from "@hono/node-server";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { DaemonError } from "../errors.ts";
import type { HttpLimits } from "../limits.ts";
import { handleInOrder, type NodeHandler } from "./handle-in-order.ts";
import type { UpgradeHandler } from "./upgrade.ts";

export type { NodeHandler } from "./handle-in-order.ts";

type Fetch = (request: Request, env?: object) => Response | Promise<Response>;

/** Creates a listener for Node's HTTP servers. */
export function createNodeHandler(
  fetch: Fetch,
  {
    pipelinedRequests,
    isEnding,
  }: Pick<HttpLimits, "pipelinedRequests"> & {
    /** Whether connections are closed after their next response, so that a load balancer connects to another node. */
    readonly isEnding: () => boolean;
  },
): NodeHandler {
  // Replacing the global Request and Response would affect other code of the program in which the daemon is mounted.
  const listener = getRequestListener((request, env) => fetch(request, env), {
    overrideGlobalObjects: false,
  });
  return handleInOrder((request, response) => {
    if (isEnding()) response.shouldKeepAlive = false;
    void listener(request, response);
  }, pipelinedRequests);
}

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly limits: HttpLimits;
  readonly onUpgrade: UpgradeHandler;
}

/** The daemon's HTTP server. */
export class HttpServer {
  readonly #server: Server;
  readonly url: string;

  private constructor(server: Server, host: string) {
    this.#server = server;
    const { port, family, address } = server.address() as AddressInfo;
    const shown = address === "0.0.0.0" || address === "::" ? host : address;
    this.url = `http://${family === "IPv6" && shown.includes(":") ? `[${shown}]` : shown}:${port}`;
  }

  static async listen(
    handler: NodeHandler,
    { host, port, limits, onUpgrade }: ListenOptions,
  ): Promise<HttpServer> {
    const server = createServer(handler);
    server.on("upgrade", onUpgrade);
    server.maxConnections = limits.connections;
    // Streams stay open, but a request has to be received within this time.
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    server.listen(port, host);
    try {
      await once(server, "listening");
    } catch (error) {
      throw new DaemonError("bad_options", `Failed to listen on ${host}:${port}: ${messageOf(error)}`, {
        cause: error,
      });
    }
    return new HttpServer(server, host);
  }

  /** Stops accepting connections and closes idle ones. Closes the others after a grace period. */
  async close(graceMs: number): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    // A connection becomes idle shortly after its stream has ended.
    const sweep = setInterval(() => this.#server.closeIdleConnections(), SWEEP_MS);
    const timer = setTimeout(() => this.#server.closeAllConnections(), graceMs);
    await closed;
    clearInterval(sweep);
    clearTimeout(timer);
  }
}

const REQUEST_TIMEOUT_MS = 60_000;
const SWEEP_MS = 20;

/** Whether only programs on this machine can connect to the host. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
