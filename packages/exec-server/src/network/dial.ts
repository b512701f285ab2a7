import { connect, type Socket } from "node:net";
import { EXEC_LIMITS } from "../limits.ts";
import type { OpenSockets } from "./open-sockets.ts";

/** A connection to the first of these addresses that takes one; undefined when none does. No name is looked up again. */
export async function dial(
  addresses: readonly string[],
  port: number,
  sockets: OpenSockets,
): Promise<Socket | undefined> {
  for (const address of addresses) {
    if (sockets.isOver) return undefined;
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
