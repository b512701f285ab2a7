import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { createServer, request } from "../node-http.ts";
import { blockedAnswer } from "./blocked.ts";
import { dial } from "./dial.ts";
import type { Admission, Gatekeeper } from "./gatekeeper.ts";
import { forwardedHeaders } from "./hop-headers.ts";
import { readAuthority } from "./host-name.ts";
import { dismiss, disconnectSignal, join, type OpenSockets } from "./open-sockets.ts";
import type { Target } from "./verdict.ts";

export interface ProxyListenerOptions {
  readonly gatekeeper: Gatekeeper;
  readonly sockets: OpenSockets;
  /** Allows only requests that change nothing, and no tunnels, which can't be inspected. */
  readonly limited: boolean;
}

/** Methods allowed in limited mode. Codex's list. */
const HARMLESS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

const HTTP_PORT = 80;

/**
 * Creates an HTTP proxy for requests with absolute URLs and for tunnels. It does not listen; connections are
 * passed to the returned function.
 */
export function httpListener(options: ProxyListenerOptions): (socket: Socket) => void {
  const server = createServer();
  server.on("request", (incoming, response) => {
    forward(incoming, response, options).catch(() => response.destroy());
  });
  server.on("connect", (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    tunnel(incoming, socket, head, options).catch(() => socket.destroy());
  });
  return (socket) => void server.emit("connection", socket);
}

async function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  { gatekeeper, sockets, limited }: ProxyListenerOptions,
): Promise<void> {
  const read = readTarget(incoming);
  if (typeof read === "string") return answerText(response, 400, read);
  const { target, authority, path } = read;
  let admission = await gatekeeper.admit(target, disconnectSignal(response));
  if (admission.allowed && limited && !HARMLESS.has(target.method ?? ""))
    admission = gatekeeper.refuse(target, "method_not_allowed");
  if (!admission.allowed) return answerBlocked(response, target, admission);
  const socket = await dial(admission.addresses, target.port, sockets);
  if (!socket) return answerText(response, 502, "upstream failure");
  if (response.destroyed) return void socket.destroy();
  const upstream = request({
    // Uses the existing connection, so that no name is resolved again and no other connection is used.
    createConnection: () => socket,
    method: target.method,
    path,
    // Sends only the host that was checked, because the request may contain others.
    headers: ["Host", authority, ...forwardedHeaders(incoming.rawHeaders, ["host"])],
    setHost: false,
  });
  upstream.on("response", (reply) => {
    response.writeHead(reply.statusCode ?? 502, reply.statusMessage, replyHeaders(reply));
    reply.pipe(response);
    reply.on("error", () => response.destroy());
  });
  upstream.on("error", () => {
    if (response.headersSent) response.destroy();
    else answerText(response, 502, "upstream failure");
  });
  response.on("close", () => upstream.destroy());
  incoming.pipe(upstream);
}

/** Framing is per connection: the client may use a different HTTP version than the server. */
function replyHeaders({ rawHeaders }: IncomingMessage): string[] {
  return forwardedHeaders(rawHeaders, ["transfer-encoding"]);
}

function readTarget(incoming: IncomingMessage): { target: Target; authority: string; path: string } | string {
  const { method = "GET", url = "", headers } = incoming;
  const found = /^http:\/\/(?<authority>[^/?#]*)(?<path>[^#]*)/i.exec(url)?.groups;
  const authority = found?.["authority"] ?? "";
  const where = readAuthority(authority, HTTP_PORT);
  if (!found || !where) return "This is a proxy. It accepts http:// URLs and CONNECT.";
  const named = headers.host === undefined ? where : readAuthority(headers.host, HTTP_PORT);
  if (named?.host !== where.host || named.port !== where.port)
    return "Host header does not match request target";
  const path = found["path"] ?? "";
  return {
    target: { protocol: "http", ...where, method, ...clientOf(incoming.socket) },
    authority,
    path: path.startsWith("/") ? path : `/${path}`,
  };
}

async function tunnel(
  { url = "" }: IncomingMessage,
  socket: Socket,
  head: Buffer,
  { gatekeeper, sockets, limited }: ProxyListenerOptions,
): Promise<void> {
  const where = readAuthority(url);
  if (!where) return endWith(socket, "400 Bad Request", "text/plain", "CONNECT expects host:port.");
  const target: Target = { protocol: "https_connect", ...where, method: "CONNECT", ...clientOf(socket) };
  let admission = await gatekeeper.admit(target, disconnectSignal(socket));
  if (admission.allowed && limited) admission = gatekeeper.refuse(target, "mitm_required");
  if (!admission.allowed) {
    const { type, proxyError, body } = blockedAnswer(target, admission.verdict);
    return endWith(socket, "403 Forbidden", type, body, `x-proxy-error: ${proxyError}\r\n`);
  }
  const upstream = await dial(admission.addresses, target.port, sockets);
  if (!upstream) return endWith(socket, "502 Bad Gateway", "text/plain", "upstream failure");
  if (socket.destroyed) return void upstream.destroy();
  socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
  if (head.length > 0) upstream.write(head);
  join(socket, upstream);
}

function answerBlocked(
  response: ServerResponse,
  target: Target,
  { verdict }: Extract<Admission, { allowed: false }>,
): void {
  const { type, proxyError, body } = blockedAnswer(target, verdict);
  answer(response, 403, { "content-type": type, "x-proxy-error": proxyError }, body);
}

function answerText(response: ServerResponse, status: number, text: string): void {
  answer(response, status, { "content-type": "text/plain" }, text);
}

/** Sends the last response on a connection, because the rest of the client's request was not read. */
function answer(response: ServerResponse, status: number, headers: object, body: string): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...headers, "content-length": length, connection: "close" }).end(body);
}

function endWith(socket: Socket, status: string, type: string, body: string, more = ""): void {
  const length = Buffer.byteLength(body);
  dismiss(
    socket,
    `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\n${more}content-length: ${length}\r\n\r\n${body}`,
  );
}

function clientOf({ remoteAddress, remotePort }: Socket): { client: string } | object {
  return remoteAddress === undefined ? {} : { client: `${remoteAddress}:${remotePort}` };
}
