import { connect, type Socket } from "node:net";
import { EXEC_LIMITS } from "../limits.ts";
import type { OpenSockets } from "./open-sockets.ts";

/**
 * Connects to the first of these addresses that accepts a connection. Resolves to undefined if none does.
 * Takes addresses, so that no name is resolved again.
 */
export async function dial(
  addresses: readonly string[],
  port: number,
  sockets: OpenSockets,
): Promise<Socket | undefined> {
  for (const address of addresses) {
    if (sockets.isClosed) return undefined;
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true });
    sockets.add(socket);
    if (await isConnected(socket)) return socket;
  }
  return undefined;
}

function isConnected(socket: Socket): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const limit = setTimeout(() => socket.destroy(), EXEC_LIMITS.proxyConnectTimeoutMs);
  socket.once("connect", () => resolve(true));
  socket.once("close", () => resolve(false));
  return promise.finally(() => clearTimeout(limit));
}
