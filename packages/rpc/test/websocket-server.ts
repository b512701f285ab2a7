import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import { type ServerOptions, type WebSocket, WebSocketServer } from "ws";

export interface TestWebSocketServer extends AsyncDisposable {
  readonly url: string;
  /** Resolves to the next socket that a client opens. */
  nextSocket(): Promise<WebSocket>;
}

/** A WebSocket server on a free port or a unix socket. Its sockets are closed with the test. */
export async function webSocketServer(
  options: ServerOptions & { socketPath?: string; onConnection?: (socket: WebSocket) => void } = {},
): Promise<TestWebSocketServer> {
  const { socketPath, onConnection, ...serverOptions } = options;
  const http = createServer();
  const server = new WebSocketServer({ ...serverOptions, server: http });
  const opened: WebSocket[] = [];
  const waiting: ((socket: WebSocket) => void)[] = [];
  server.on("connection", (socket) => {
    socket.on("error", () => {});
    onConnection?.(socket);
    const reader = waiting.shift();
    if (reader) reader(socket);
    else opened.push(socket);
  });
  if (socketPath === undefined) http.listen(0, "127.0.0.1");
  else http.listen(socketPath);
  await once(http, "listening");
  return {
    url: socketPath === undefined ? webSocketUrl(http.address()) : `unix://${socketPath}`,
    nextSocket: () =>
      new Promise((resolve) => {
        const socket = opened.shift();
        if (socket) resolve(socket);
        else waiting.push(resolve);
      }),
    async [Symbol.asyncDispose]() {
      for (const socket of server.clients) socket.terminate();
      http.closeAllConnections();
      http.close();
      await once(http, "close");
    },
  };
}

/** A TCP server for what a WebSocket server does not do: silence, refusals, endless responses. */
export async function rawServer(
  onConnection: (socket: Socket) => void,
): Promise<AsyncDisposable & { url: string }> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    onConnection(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: webSocketUrl(server.address()),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

function webSocketUrl(address: AddressInfo | string | null): string {
  return `ws://127.0.0.1:${(address as AddressInfo).port}/`;
}
