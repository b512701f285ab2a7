import type { ServerOptions, WebSocket } from "ws";
import { type TestWebSocketServer, webSocketServer } from "./websocket-server.ts";
import { connectWebSocket, Peer, type RpcLimits, WebSocketTransport } from "../src/index.ts";

/** A client transport over a real connection, and the server's bare socket. */
export async function connection(
  server: TestWebSocketServer,
  limits: Partial<RpcLimits> = {},
): Promise<{ transport: WebSocketTransport; far: WebSocket }> {
  const [transport, far] = await Promise.all([connectWebSocket(server.url, { limits }), server.nextSocket()]);
  return { transport, far };
}

export async function twoPeers(
  server: TestWebSocketServer,
  limits: Partial<RpcLimits> = {},
): Promise<[Peer, Peer]> {
  const { transport, far } = await connection(server, limits);
  return [new Peer(transport, { limits }), new Peer(new WebSocketTransport(far, limits), { limits })];
}

export function serverWith(options: ServerOptions = {}): Promise<TestWebSocketServer> {
  return webSocketServer(options);
}
