import { type IncomingMessage, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import { createProblem } from "../api/problem.ts";
import type { TerminalLimits } from "../terminals/limits.ts";
import type { Terminal } from "../terminals/terminal.ts";
import { problemResponse } from "./problems.ts";
import { attachSocket } from "./terminal-socket.ts";

/** What the route of a WebSocket has found out about a request. */
export interface Upgrade {
  terminal?: Terminal;
  canWrite?: boolean;
  after?: number | undefined;
}

/** A listener for the event `upgrade` of Node's HTTP servers. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface UpgradeOptions {
  readonly fetch: (request: Request, env: object) => Response | Promise<Response>;
  readonly limits: TerminalLimits;
  readonly heartbeatMs: number;
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
    const { terminal, canWrite = false, after } = found;
    if (!terminal || !response.ok) return refuse(socket, response);
    server.handleUpgrade(request, socket, head, (webSocket) => {
      attachSocket(webSocket, terminal, { canWrite, after, heartbeatMs, closing });
    });
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
