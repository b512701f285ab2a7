import { getRequestListener } from "@hono/node-server";
import { HttpServer, type ListenAddress } from "@codexkit/rpc";
import { messageOf } from "@codexkit/rpc/async";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { Duplex } from "node:stream";
import { RelayError } from "../../errors.ts";
import type { RegistryLimits } from "../limits.ts";

export interface ListenOptions extends ListenAddress {
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  readonly limits: RegistryLimits;
  readonly onUpgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
}

/** Interval at which connections are checked for late headers. */
const CHECK_MS = 1_000;
const REQUEST_MS = 30_000;

/** A hono app. Declared here, because hono's declarations require TypeScript 5.7. */
interface RequestHandler {
  readonly fetch: (request: Request, bindings: object) => Response | Promise<Response>;
}

/** Starts the HTTP server of a registry. */
export async function startHttpServer(
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
  try {
    return await HttpServer.listen(server, { host, port, scheme: tls ? "https" : "http" });
  } catch (error) {
    const reason = messageOf(error);
    throw new RelayError("bad_option", `Can't listen on ${host}:${port}: ${reason}`, { cause: error });
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
