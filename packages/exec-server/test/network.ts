import { createServer, type RequestListener } from "node:http";
import { once } from "node:events";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { promisify } from "node:util";
import type { NetworkProxyParams, SandboxContext } from "../src/client/index.ts";
import { Gatekeeper } from "../src/network/gatekeeper.ts";
import { HostPolicy } from "../src/network/host-policy.ts";
import type { ProxyListenerOptions } from "../src/network/http-listener.ts";
import { OpenSockets } from "../src/network/open-sockets.ts";
import type { Target } from "../src/network/verdict.ts";

/** A proxy that allows nothing by itself. */
export function proxyParams(changes: Partial<NetworkProxyParams["proxy"]> = {}): NetworkProxyParams {
  return {
    proxy: {
      enabled: true,
      enableSocks5: true,
      enableSocks5Udp: false,
      allowUpstreamProxy: false,
      dangerouslyAllowAllUnixSockets: false,
      mode: "full",
      allowLocalBinding: false,
      ...changes,
    },
  };
}

/** A disk to read, and no network. */
export const READ_ONLY: SandboxContext = {
  permissions: {
    type: "managed",
    network: "restricted",
    file_system: {
      type: "restricted",
      entries: [{ path: { type: "special", value: { kind: "root" } }, access: "read" }],
    },
  },
  policyContext: { cwd: "file:///", workspaceRoots: [] },
  windowsSandboxLevel: "disabled",
};

/** A web server on this machine's loopback, which answers "a page" unless told otherwise. */
export async function startWeb(
  listener: RequestListener = (_request, response) => void response.end("a page"),
): Promise<AsyncDisposable & { readonly port: number }> {
  const web = createServer(listener);
  web.listen(0, "127.0.0.1");
  await once(web, "listening");
  return {
    port: (web.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      web.closeAllConnections();
      web.close();
      await once(web, "close");
    },
  };
}

/** A proxy on a plain socket, without a sandbox before it. It allows 127.0.0.1, and `name.test`, which leads there. */
export async function startProxyListener(
  createHandler: (options: ProxyListenerOptions) => (socket: Socket) => void,
  report: (target: Target) => void = () => {},
): Promise<Disposable & { readonly port: number; readonly connections: () => Promise<number> }> {
  const domains = { "127.0.0.1": "allow", "name.test": "allow" } as const;
  const gatekeeper = new Gatekeeper({
    policy: new HostPolicy({ domains, allowLocalBinding: true }),
    ask: undefined,
    report,
    resolve: async () => ["127.0.0.1"],
  });
  const sockets = new OpenSockets();
  const serve = createHandler({ gatekeeper, sockets, limited: false });
  const listener = createTcpServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket);
    serve(socket);
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  return {
    port: (listener.address() as AddressInfo).port,
    connections: promisify(listener.getConnections.bind(listener)),
    [Symbol.dispose]: () => {
      sockets[Symbol.dispose]();
      listener.close();
    },
  };
}

export type Way = "http" | "connect" | "socks";
export const WAYS: readonly Way[] = ["http", "connect", "socks"];

/** The way to a proxy as a script: what is said first, what has to come back, and only then the request itself. */
const SCRIPTS: Readonly<Record<Way, string>> = {
  http: `say "$METHOD http://$TO/ HTTP/1.1\\r\\n$REST"; cat <&3`,
  connect: `say "CONNECT $TO HTTP/1.1\\r\\nHost: $TO\\r\\n\\r\\n"
    while IFS= read -r line <&3; do echo "$line"; [ "$line" = $'\\r' ] && break; open="$open$line"; done
    case "$open" in *" 200 "*) say "$METHOD / HTTP/1.1\\r\\n$REST"; cat <&3;; esac`,
  socks: `say '\\x05\\x01\\x00'; head -c 2 <&3; say "$SOCKS"; head -c 10 <&3
    say "$METHOD / HTTP/1.1\\r\\n$REST" 2>/dev/null; cat <&3`,
};

/** A command that asks its proxy for a page, in one of the ways that clients have, and prints what comes back. */
export function visit(way: Way, host: string, port: number, method = "GET"): [string, ...string[]] {
  const to = `${host}:${port}`;
  const address = [5, 1, 0, 1, ...host.split(".").map(Number), Math.trunc(port / 256), port % 256];
  const socks = address.map((byte) => String.raw`\x${byte.toString(16).padStart(2, "0")}`).join("");
  const script = `
    proxy=\${${way === "socks" ? "ALL_PROXY" : "HTTP_PROXY"}##*/}
    METHOD=${method} TO=${to} SOCKS='${socks}' REST='Host: ${to}\\r\\nConnection: close\\r\\n\\r\\n'
    say() { printf "$1" >&3; }
    exec 3<>/dev/tcp/\${proxy%:*}/\${proxy##*:}
    ${SCRIPTS[way]}`;
  return ["/bin/bash", "-c", script];
}
