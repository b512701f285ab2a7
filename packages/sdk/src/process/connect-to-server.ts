import { type ConnectWebSocketOptions, connectWebSocket, type Transport } from "@codexkit/rpc";
import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { basename, dirname, join } from "node:path";
import { KEEPER_SOCKETS } from "./keeper-settings.ts";

/**
 * Opens a connection to the server at a URL. A server that outlives its owner is reached directly, not through its keeper, which
 * would copy every message. A second connection, on which nothing is sent, lets the keeper count this client.
 */
export async function connectToServer(
  url: string | URL,
  options: ConnectWebSocketOptions,
): Promise<Transport> {
  const kept = findKeptServer(url);
  if (!kept) return connectWebSocket(url, options);
  const presence = connect(kept.keeperPath);
  // Its end is reported by "close".
  presence.on("error", () => {});
  // Only the connection to codex keeps the program alive.
  presence.unref();
  try {
    const transport = await connectWebSocket(`unix://${kept.codexPath}`, options);
    return attachPresence(transport, presence);
  } catch (error) {
    presence.destroy();
    throw error;
  }
}

function findKeptServer(url: string | URL): { keeperPath: string; codexPath: string } | undefined {
  const path = /^unix:\/\/(?<path>\/.+)$/.exec(String(url))?.groups?.["path"];
  if (path === undefined) return undefined;
  const keeperPath = url instanceof URL ? decodeURIComponent(path) : path;
  if (basename(keeperPath) !== KEEPER_SOCKETS.keeper) return undefined;
  const codexPath = join(dirname(keeperPath), KEEPER_SOCKETS.codex);
  return existsSync(codexPath) ? { keeperPath, codexPath } : undefined;
}

/** Both connections end together: without the keeper, nothing ends codex. */
function attachPresence(transport: Transport, presence: Socket): Transport {
  presence.once("close", () => void transport.close());
  return {
    start: (receiver) =>
      transport.start({
        text: (message) => receiver.text(message),
        malformed: (error) => receiver.malformed(error),
        closed: (cause) => {
          presence.destroy();
          receiver.closed(cause);
        },
      }),
    send: (message) => transport.send(message),
    pause: () => transport.pause?.(),
    resume: () => transport.resume?.(),
    close: async () => {
      await transport.close();
      presence.destroy();
    },
  };
}
