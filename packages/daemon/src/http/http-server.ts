import { getRequestListener } from "@hono/node-server";
import { HttpServer, type ListenAddress } from "@codexkit/rpc";
import { messageOf } from "@codexkit/rpc/async";
import { createServer } from "node:http";
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

export interface ListenOptions extends ListenAddress {
  readonly limits: HttpLimits;
  readonly onUpgrade: UpgradeHandler;
}

const REQUEST_TIMEOUT_MS = 60_000;
/**
 * Longer than the minute for which clients and load balancers commonly keep an idle connection. A request that is sent while the
 * server closes the connection fails.
 */
const KEEP_ALIVE_MS = 65_000;

/** Starts the daemon's HTTP server. */
export async function startHttpServer(
  handler: NodeHandler,
  { host, port, limits, onUpgrade }: ListenOptions,
): Promise<HttpServer> {
  const server = createServer(handler);
  server.on("upgrade", onUpgrade);
  server.maxConnections = limits.connections;
  // Streams stay open, but a request has to be received within this time.
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  try {
    return await HttpServer.listen(server, { host, port });
  } catch (error) {
    throw new DaemonError("bad_options", `Failed to listen on ${host}:${port}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Whether only programs on this machine can connect to the host. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
