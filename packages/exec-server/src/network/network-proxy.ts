import { createServer, type Server, type Socket } from "node:net";
import { EXEC_LIMITS } from "../limits.ts";
import type { NamespaceListeners } from "../process/child.ts";
import type { NetworkProxyConfig } from "../wire/network-proxy.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { httpListener } from "./http-listener.ts";
import { OpenSockets } from "./open-sockets.ts";
import { HTTP_PROXY_PORT, proxyEnv, SOCKS_PROXY_PORT } from "./proxy-env.ts";
import { socksListener } from "./socks-listener.ts";

/**
 * The proxy of one process. It serves listeners: sockets that listen in the process's own network, which has
 * no other way out, and that were passed out of the sandbox. It holds no resources until the first listener
 * arrives.
 */
export class NetworkProxy implements NamespaceListeners, Disposable {
  readonly env: Readonly<Record<string, string>>;
  readonly open: NamespaceListeners["open"];
  readonly #sockets = new OpenSockets();
  readonly #servers = new Set<Server>();
  readonly #serve: Readonly<Record<string, (socket: Socket) => void>>;
  readonly #mayOpen: () => boolean;
  readonly #onEnd: () => void;

  constructor(
    { enableSocks5, allowLocalBinding, mode }: NetworkProxyConfig,
    gatekeeper: Gatekeeper,
    { mayOpen, onEnd }: { mayOpen: () => boolean; onEnd: () => void },
  ) {
    const options = { gatekeeper, sockets: this.#sockets, limited: mode === "limited" };
    this.#serve = { http: httpListener(options), socks: socksListener(options) };
    this.env = proxyEnv({ enableSocks5, allowLocalBinding });
    const http = { name: "http", port: HTTP_PROXY_PORT };
    this.open = enableSocks5 ? [http, { name: "socks", port: SOCKS_PROXY_PORT }] : [http];
    this.#mayOpen = mayOpen;
    this.#onEnd = onEnd;
  }

  received(name: string, listener: Server): void {
    const serve = Object.hasOwn(this.#serve, name) ? this.#serve[name] : undefined;
    if (!serve || this.#sockets.isClosed || !this.#mayOpen()) {
      listener.close();
      return;
    }
    // Wraps the same socket in a server with `allowHalfOpen`, so that a connection stays open after its
    // client has sent everything.
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      serve(socket);
    });
    server.maxConnections = EXEC_LIMITS.proxyConnections;
    server.on("error", () => server.close());
    this.#servers.add(server);
    server.listen(listener);
  }

  /** Closes all connections because the process or the server has ended. */
  [Symbol.dispose](): void {
    this.#sockets[Symbol.dispose]();
    for (const server of this.#servers) server.close();
    this.#servers.clear();
    this.#onEnd();
  }
}
