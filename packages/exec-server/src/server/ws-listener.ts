import { createHash } from "node:crypto";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { EXEC_LIMITS } from "../limits.ts";
import { Connection, type ConnectionOptions } from "./connection.ts";
import { FrameReader } from "./frame-reader.ts";
import { controlFrame, webSocketFraming } from "./framing.ts";
import { webSocketUrl } from "./listen-url.ts";
import { MessageWriter } from "./message-writer.ts";
import { isAuthorized, type WebSocketAuth } from "./ws-auth.ts";

export interface WsListenerOptions {
  readonly host: string;
  readonly port: number;
  readonly auth: WebSocketAuth | undefined;
  readonly connection: ConnectionOptions;
}

/** What a key is joined with to prove that the server speaks WebSocket: https://www.rfc-editor.org/rfc/rfc6455#section-1.3. */
const HANDSHAKE_ID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/** Accepts WebSockets on `/`, and answers `/readyz`. Browsers, which send an `Origin`, are refused. */
export class WsListener {
  readonly #options: WsListenerOptions;
  readonly #http: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(options: WsListenerOptions) {
    this.#options = options;
    this.#http = createServer((request, response) => this.#answer(request, response));
    this.#http.on("upgrade", (request: IncomingMessage, socket: Duplex, head: Buffer) =>
      this.#upgrade(request, socket as Socket, head),
    );
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

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.#http.closeAllConnections();
    await closed;
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(plainStatus(request), { "content-length": 0 }).end();
  }

  #upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    const key = request.headers["sec-websocket-key"];
    const status = this.#refusal(request, key);
    if (status !== undefined || key === undefined) {
      const code = status ?? 400;
      socket.end(`HTTP/1.1 ${code} ${STATUS_CODES[code]}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`);
      return;
    }
    // The answer to a short command must not wait for the acknowledgement of the packet before it.
    socket.setNoDelay(true);
    socket.setTimeout(0);
    const accept = createHash("sha1").update(`${key}${HANDSHAKE_ID}`).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    this.#serve(socket, head);
  }

  #refusal(request: IncomingMessage, key: string | undefined): number | undefined {
    const { headers } = request;
    if (headers.origin !== undefined) return 403;
    if (pathOf(request) !== "/") return 404;
    const isWebSocket =
      headers.upgrade?.toLowerCase() === "websocket" && headers["sec-websocket-version"] === "13";
    if (request.method !== "GET" || !isWebSocket || key === undefined) return 400;
    const { auth } = this.#options;
    if (auth && !isAuthorized(auth, headers.authorization, Date.now() / 1000)) return 401;
    return undefined;
  }

  #serve(socket: Socket, head: Buffer): void {
    this.#sockets.add(socket);
    const cut = (): void => void socket.destroy();
    const writer = new MessageWriter(socket, webSocketFraming, () => connection.relieved());
    const inlet = { pause: () => socket.pause(), resume: () => socket.resume(), cut };
    const connection = new Connection(inlet, writer, this.#options.connection);
    const frames = new FrameReader({
      message: (bytes) => connection.receive(bytes),
      ping: (payload) => writer.sendFrame(controlFrame("pong", payload)),
      close: () => {
        writer.sendFrame(controlFrame("close", Buffer.alloc(0)));
        socket.end();
      },
    });
    const read = (bytes: Buffer): void => {
      try {
        frames.push(bytes);
      } catch {
        cut(); // The protocol is broken, or a limit was met.
      }
    };
    const ping = setInterval(
      () => writer.sendFrame(controlFrame("ping", Buffer.alloc(0))),
      EXEC_LIMITS.pingMs,
    );
    ping.unref();
    socket.on("close", () => {
      clearInterval(ping);
      this.#sockets.delete(socket);
      connection.ended();
    });
    socket.on("end", cut);
    if (head.length > 0) read(head);
    socket.on("data", read);
  }
}

/** Requests that are no upgrade. */
function plainStatus(request: IncomingMessage): number {
  if (request.headers.origin !== undefined) return 403;
  const path = pathOf(request);
  if (path === "/readyz") return request.method === "GET" || request.method === "HEAD" ? 200 : 405;
  return path === "/" ? 400 : 404;
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "/").split("?", 1)[0] ?? "/";
}
