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
 * The proxy of one process. It answers on listeners: sockets that listen in the process's own network, which has no other
 * way out, and that were handed to this side of the sandbox. It holds nothing until the first is taken.
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
    if (!serve || this.#sockets.isOver || !this.#mayOpen()) {
      listener.close();
      return;
    }
    // A server with `allowHalfOpen` on the same socket: it must not end a connection whose client has sent everything.
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      this.#sockets.add(socket);
      serve(socket);
    });
    server.maxConnections = EXEC_LIMITS.proxyConnections;
    server.on("error", () => server.close());
    this.#servers.add(server);
    server.listen(listener);
  }

  /** The process is over, or the server: so is every connection. */
  [Symbol.dispose](): void {
    this.#sockets[Symbol.dispose]();
    for (const server of this.#servers) server.close();
    this.#servers.clear();
    this.#onEnd();
  }
}
