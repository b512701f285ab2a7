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
import { relaySocket } from "./proxy/relay-socket.ts";
import { CLOSE } from "./socket-liveness.ts";
import { attachSocket } from "./terminal-socket.ts";

/** What the route of a WebSocket has found out about a request. */
export interface Upgrade {
  terminal?: Terminal;
  /** The terminal is on another node. */
  remote?: { readonly node: FleetNode; readonly target: ForwardTarget; readonly proxy: OwnerProxy };
  /** Calls back when the token of the request ends. */
  watchToken?: (onEnd: () => void) => Disposable;
  canWrite?: boolean;
  after?: number | undefined;
}

/** Undefined for a request that is not one of a WebSocket. */
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
  /** Aborted when the daemon closes. */
  readonly closing: AbortSignal;
}

/**
 * Upgrades requests to WebSockets. Each request goes through the app first, which checks host, origin, token, scope and rate and
 * answers with problems as on all other routes.
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
    // They are counted: a client could send pings and never read.
    autoPong: false,
  });

  async function upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const found: Upgrade = {};
    const response = await fetch(toRequest(request), { incoming: request, upgrade: found });
    const { terminal, remote, canWrite = false, after, watchToken } = found;
    if (response.ok && remote) return relay({ request, socket, head }, remote);
    if (!terminal || !response.ok) return refuse(socket, response);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const watch = watchToken?.(() => webSocket.close(CLOSE.refused));
      webSocket.once("close", () => watch?.[Symbol.dispose]());
      attachSocket(webSocket, terminal, { canWrite, after, heartbeatMs, closing });
    });
  }

  /** Connects a client with the node that has the terminal. */
  async function relay(
    client: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
    { node, target, proxy }: NonNullable<Upgrade["remote"]>,
  ): Promise<void> {
    let close = (): void => {};
    try {
      close = proxy.open();
      const answer = await relaySocket(client, {
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
    const onError = (): void => void socket.destroy();
    socket.on("error", onError);
    upgrade(request, socket, head)
      .catch(async () => refuse(socket, problemResponse(createProblem("internal", "The upgrade failed."))))
      .finally(() => socket.off("error", onError))
      .catch(onError);
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
  // Nothing else than a refusal comes here.
  const status = Math.max(statusCode, 300);
  return new Response(Readable.toWeb(message) as ReadableStream<Uint8Array>, { status, headers: list });
}

async function refuse(socket: Duplex, response: Response): Promise<void> {
  let refusal = response;
  if (response.ok) {
    // A route without a WebSocket.
    await response.body?.cancel();
    refusal = problemResponse(createProblem("bad_request", "There is no WebSocket at this path."));
  }
  const body = Buffer.from(await refusal.arrayBuffer());
  const headers = [...refusal.headers, ["content-length", body.length], ["connection", "close"]];
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status] ?? ""}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  socket.end(Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]));
}
