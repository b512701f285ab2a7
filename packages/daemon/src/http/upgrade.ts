import { type IncomingMessage, STATUS_CODES } from "node:http";
import { type Duplex, Readable } from "node:stream";
import type { Context } from "hono";
import { WebSocketServer } from "ws";
import { createProblem } from "../api/problem.ts";
import type { TerminalLimits } from "../terminals/limits.ts";
import type { Terminal } from "../terminals/terminal.ts";
import { nodeUnavailable } from "../fleet/locate-session.ts";
import type { FleetNode } from "../fleet-store/node-directory.ts";
import { problemResponse, toProblem } from "./problems.ts";
import type { ForwardTarget, OwnerProxy } from "./proxy/owner-proxy.ts";
import { forwardSocket } from "./proxy/forward-socket.ts";
import { CLOSE } from "./socket-liveness.ts";
import { attachSocket } from "./terminal-socket.ts";

/** What the route of a WebSocket has determined about a request. */
export interface Upgrade {
  terminal?: Terminal;
  /** Set if the terminal is on another node. */
  remote?: { readonly node: FleetNode; readonly target: ForwardTarget; readonly proxy: OwnerProxy };
  /** Calls `onEnd` when the token of the request ends. */
  watchToken?: (onEnd: () => void) => Disposable;
  canWrite?: boolean;
  after?: number | undefined;
}

/** Returns undefined for a request that is not a WebSocket upgrade. */
export function upgradeOf(context: Context): Upgrade | undefined {
  return (context.env as { upgrade?: Upgrade } | undefined)?.upgrade;
}

/** A listener for the event `upgrade` of Node's HTTP servers. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface UpgradeOptions {
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>;
  readonly limits: TerminalLimits;
  readonly heartbeatMs: number;
  readonly proxyTimeoutMs: number;
  /** Aborts when the daemon closes. */
  readonly closing: AbortSignal;
}

/**
 * Upgrades requests to WebSockets. The app handles each request first: it checks the host, origin, token, scope and
 * rate, and responds with the same problems as on all other routes.
 */
export function createUpgradeHandler({
  fetch,
  limits,
  heartbeatMs,
  proxyTimeoutMs,
  closing,
}: UpgradeOptions): UpgradeHandler {
  const server = new WebSocketServer({
    noServer: true,
    // JSON escapes a control character with six bytes.
    maxPayload: 6 * limits.messageBytes + 1024,
    perMessageDeflate: false,
    clientTracking: false,
    // Pongs are sent and counted by `Replies`, because a client could send pings without reading the pongs.
    autoPong: false,
  });

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const found: Upgrade = {};
    const response = await fetch(toRequest(request), { incoming: request, upgrade: found });
    const { terminal, remote, canWrite = false, after, watchToken } = found;
    if (response.ok && remote) return forward({ request, socket, head }, remote);
    if (!terminal || !response.ok) return refuse(socket, response);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const watch = watchToken?.(() => webSocket.close(CLOSE.refused));
      webSocket.once("close", () => watch?.[Symbol.dispose]());
      attachSocket(webSocket, terminal, { canWrite, after, heartbeatMs, closing });
    });
  }

  /** Connects a client to the node that has the terminal. */
  async function forward(
    client: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
    { node, target, proxy }: NonNullable<Upgrade["remote"]>,
  ): Promise<void> {
    let close = (): void => {};
    try {
      close = proxy.open();
      const answer = await forwardSocket(client, {
        server,
        target,
        timeoutMs: proxyTimeoutMs,
        unsentBytes: limits.unsentBytes,
        heartbeatMs,
        closing,
        onEnd: close,
      }).catch(() => {
        proxy.count(client.socket.destroyed ? "aborted" : "unavailable");
        throw nodeUnavailable(node.name, "It can't be reached.");
      });
      if (answer === "connected") return proxy.count("ok");
      close();
      if (answer === "refused") return proxy.count("aborted");
      const response = toResponse(answer);
      const { headers } = await proxy.receive(node, response);
      await refuse(client.socket, new Response(response.body, { status: response.status, headers }));
    } catch (error) {
      close();
      const { problem } = toProblem(error);
      await refuse(client.socket, problemResponse(problem));
    }
  }

  return (request, socket, head) => {
    // The listener stays for the lifetime of the socket: a client may reset the connection while an error response is
    // being written, and an error event without a listener would end the process.
    socket.on("error", () => socket.destroy());
    upgrade(request, socket, head)
      .catch(async () => refuse(socket, problemResponse(createProblem("internal", "The upgrade failed."))))
      .catch(() => socket.destroy());
  };
}

function toRequest({ url = "/", headers }: IncomingMessage): Request {
  const base = "http://localhost";
  const list = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    [value ?? []].flat().map((entry) => [name, entry]),
  );
  return new Request(URL.canParse(url, base) ? new URL(url, base) : base, { headers: list });
}

function toResponse(message: IncomingMessage): Response {
  const { statusCode = 500, headers } = message;
  const list = Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]);
  // Only error responses get here.
  const status = Math.max(statusCode, 300);
  return new Response(Readable.toWeb(message) as ReadableStream<Uint8Array>, { status, headers: list });
}

async function refuse(socket: Duplex, response: Response): Promise<void> {
  let refusal = response;
  if (response.ok) {
    // The route is not a WebSocket.
    await response.body?.cancel();
    refusal = problemResponse(createProblem("bad_request", "There is no WebSocket at this path."));
  }
  const body = Buffer.from(await refusal.arrayBuffer());
  const headers = [...refusal.headers, ["content-length", body.length], ["connection", "close"]];
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  // A client that does not close its side would keep the connection open.
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]), () => socket.destroy());
}
