import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { answerPings, startHeartbeat } from "@codexkit/rpc";
import { type WebSocket, WebSocketServer } from "ws";
import type { ServerLimits } from "../limits.ts";
import type { Logger } from "../logger.ts";
import type { EpochClaim } from "../session/epoch-fence.ts";
import { createServer, STATUS_CODES } from "../node-http.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { manageLargeMessages } from "./large-messages.ts";
import { webSocketUrl } from "./listen-url.ts";
import { webSocketSink } from "./message-sink.ts";
import { MessageWriter } from "./message-writer.ts";
import { type Authorization, authorize, type WebSocketAuth } from "./ws-auth.ts";

export interface WsListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly auth: WebSocketAuth | undefined;
  /** Host names under which clients reach this server, besides IP addresses and `localhost`. */
  readonly allowedHosts: readonly string[];
  readonly connection: ConnectionOptions;
  readonly limits: ServerLimits;
  readonly log: Logger;
}

/**
 * Accepts WebSockets on `/` and answers `/readyz`. Refuses requests from browsers, which send an `Origin`.
 */
export class WsListener {
  readonly #options: WsListenerOptions;
  readonly #http: Server;
  readonly #upgrader: WebSocketServer;
  /** Sockets that have not completed the handshake, oldest first. */
  readonly #pending = new Set<Socket>();
  readonly #clients = new Set<WebSocket>();
  #isClosing = false;

  private constructor(options: WsListenerOptions) {
    const { limits } = options;
    this.#options = options;
    this.#upgrader = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      perMessageDeflate: false,
      // The protocol defines no subprotocols. By default, `ws` would accept the first one that the client
      // names.
      handleProtocols: () => false,
      autoPong: false,
      maxPayload: limits.messageBytes,
      maxFragments: limits.messageFragments,
    });
    this.#http = createServer(
      {
        headersTimeout: limits.handshakeTimeoutMs,
        requestTimeout: limits.handshakeTimeoutMs,
        connectionsCheckingInterval: Math.min(limits.handshakeTimeoutMs, CHECK_MS),
      },
      (request, response) => this.#answer(request, response),
    );
    this.#http.maxConnections = limits.connections;
    this.#http.on("connection", (socket) => this.#watchPending(socket));
    this.#http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      void this.#upgrade(request, socket as Socket, head);
    });
  }

  static async start(options: WsListenerOptions): Promise<WsListener> {
    const listener = new WsListener(options);
    await new Promise<void>((resolve, reject) => {
      listener.#http.once("error", reject);
      listener.#http.listen(options.port, options.host, () => resolve());
    });
    return listener;
  }

  get port(): number {
    const address = this.#http.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  get url(): string {
    return webSocketUrl(this.#options.host, this.port);
  }

  /** Accepts no more clients. Existing connections stay open until `close`. */
  stopAccepting(): void {
    this.#isClosing = true;
    this.#http.close();
    for (const socket of this.#pending) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      // Reports an error if `stopAccepting` has already closed it. Then only its end has to be awaited.
      this.#http.close((error) => (error ? resolve() : undefined));
      this.#http.once("close", () => resolve());
    });
    this.stopAccepting();
    for (const client of this.#clients) client.terminate();
    this.#http.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(this.#plainStatus(request), { "content-length": 0, connection: "close" }).end();
  }

  /** Limits the resources that clients can use before they have authenticated. */
  #watchPending(socket: Socket): void {
    const { pendingConnections, handshakeTimeoutMs } = this.#options.limits;
    this.#pending.add(socket);
    socket.once("close", () => this.#pending.delete(socket));
    socket.setTimeout(handshakeTimeoutMs, () => socket.destroy());
    const [oldest] = this.#pending;
    if (this.#pending.size > pendingConnections && oldest) oldest.destroy();
  }

  async #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): Promise<void> {
    socket.on("error", () => socket.destroy());
    const { status, reason, claim } = await this.#judge(request);
    if (socket.destroyed) return;
    if (status !== undefined) {
      this.#options.log.warn("upgrade refused", { status, client: socket.remoteAddress });
      refuse(socket, status, reason);
      return;
    }
    this.#upgrader.handleUpgrade(request, socket, head, (client) => {
      this.#pending.delete(socket);
      // Without this, the response to a short command would wait for the acknowledgement of the previous
      // packet.
      socket.setNoDelay(true);
      socket.setTimeout(0);
      this.#serve(client, socket, claim);
    });
  }

  async #judge(request: IncomingMessage): Promise<Verdict> {
    const { headers } = request;
    if (this.#isClosing) return { status: 503 };
    // With two of them, a proxy in front might have checked the other one.
    if (request.httpVersion !== "1.1" || countHeaders(request, "host") > 1) return { status: 400 };
    if (headers.origin !== undefined || !this.#isExpectedHost(headers.host)) return { status: 403 };
    if (pathOf(request) !== "/") return { status: 404 };
    const { auth, connection } = this.#options;
    if (!auth) return {};
    if (countHeaders(request, "authorization") > 1) return { status: 400 };
    const authorization = await authorize(auth, headers.authorization, new Date());
    if (!authorization) return { status: 401 };
    const { claim } = authorization;
    const newer = claim && connection.fence.newerEpoch(claim);
    if (newer === undefined) return authorization;
    return {
      status: 409,
      reason: `Epoch ${claim?.epoch} of this subject has been replaced by epoch ${newer}.`,
    };
  }

  /**
   * Whether a request was meant for this server. A web page can make a browser connect to any address under
   * its own domain name (DNS rebinding), and that name is then in `Host`. With authentication, a name alone
   * gives no access.
   */
  #isExpectedHost(host: string | undefined): boolean {
    const { auth, allowedHosts } = this.#options;
    if (auth) return true;
    const name = /^(?:\[(?<six>[^\]]+)\]|(?<name>[^:]+))(?::\d+)?$/.exec(host ?? "")?.groups;
    if (name?.["six"] !== undefined) return isIP(name["six"]) === 6;
    const plain = name?.["name"]?.toLowerCase() ?? "";
    return isIP(plain) === 4 || plain === "localhost" || allowedHosts.includes(plain);
  }

  #serve(client: WebSocket, socket: Socket, claim: EpochClaim | undefined): void {
    const { limits, log } = this.#options;
    log.debug("client connected", { client: socket.remoteAddress });
    this.#clients.add(client);
    const writer = new MessageWriter(webSocketSink(client, socket), () => connection.relieved(), limits);
    const inlet = {
      pause: () => client.pause(),
      resume: () => client.resume(),
      cut: () => client.terminate(),
    };
    const connection = new Connection(inlet, writer, { ...this.#options.connection, claim });
    if (!connection.join()) inlet.cut();
    manageLargeMessages(client, socket);
    const stopHeartbeat = startHeartbeat(client, limits.pingIntervalMs);
    client.on("message", (data: Buffer) => connection.receive(data));
    answerPings(client, limits.outgoingHighBytes);
    client.on("error", (error) => log.warn("connection failed", { error: error.message }));
    client.on("close", () => {
      stopHeartbeat();
      this.#clients.delete(client);
      connection.ended();
      log.debug("client disconnected", {});
    });
  }

  /** Returns the status for requests that are not an upgrade. */
  #plainStatus(request: IncomingMessage): number {
    if (request.headers.origin !== undefined || !this.#isExpectedHost(request.headers.host)) return 403;
    const path = pathOf(request);
    if (path === "/readyz") return request.method === "GET" || request.method === "HEAD" ? 200 : 405;
    return path === "/" ? 400 : 404;
  }
}

/** Interval of checks for incomplete requests. Node's default of 30 s is longer than a handshake may take. */
const CHECK_MS = 1_000;

/** Whether a client may connect. Without a status, it may. */
interface Verdict extends Authorization {
  readonly status?: number;
  /** ASCII only. */
  readonly reason?: string;
}

/**
 * Responds to and destroys the socket, so that a client that keeps it open does not use up a file descriptor.
 */
function refuse(socket: Socket, status: number, reason = ""): void {
  const response = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\ncontent-length: ${reason.length}\r\nconnection: close\r\n\r\n${reason}`;
  socket.end(response, () => socket.destroy());
}

function countHeaders({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((header, index) => index % 2 === 0 && header.toLowerCase() === name).length;
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "/").split("?", 1)[0] ?? "/";
}
