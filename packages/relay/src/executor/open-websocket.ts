import { answerPings } from "@codexkit/rpc";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket } from "ws";
import { isLoopbackHost } from "../credentials/registry-host.ts";
import { RelayError } from "../errors.ts";

export interface OpenWebSocketOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly maxPayload: number;
  readonly signal: AbortSignal;
}

/** Codex's number. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Opens a WebSocket, which is paused until the caller listens. Rejects with `unauthorized` or `refused` if the upgrade is
 * answered with 4xx, and with `connect_failed` for all other failures.
 */
export async function openWebSocket(url: string, options: OpenWebSocketOptions): Promise<WebSocket> {
  const { hostname, host } = new URL(url);
  const socket = new WebSocket(url, {
    headers: { ...options.headers },
    perMessageDeflate: false,
    autoPong: false,
    followRedirects: false,
    handshakeTimeout: CONNECT_TIMEOUT_MS,
    maxPayload: options.maxPayload,
    // A mask of zeros saves a pass over every byte. Masks protect proxies, and there are none on this machine.
    ...(isLoopbackHost(hostname) ? { generateMask: () => {} } : {}),
  });
  answerPings(socket);
  // Paused in the same event-loop turn as "open", because a message may arrive together with the upgrade's response.
  socket.once("open", () => socket.pause());
  const abort = (): void => socket.terminate();
  if (options.signal.aborted) abort();
  options.signal.addEventListener("abort", abort, { once: true });
  const refusal = Promise.withResolvers<never>();
  socket.on("unexpected-response", (_request, { statusCode = 0 }: IncomingMessage) => {
    refusal.reject(refusedError(host, statusCode));
    socket.terminate();
  });
  try {
    await Promise.race([once(socket, "open"), refusal.promise]);
    return socket;
  } catch (cause) {
    socket.on("error", () => {});
    if (options.signal.aborted) throw new RelayError("aborted", "The connection was aborted.", { cause });
    if (RelayError.is(cause)) throw cause;
    const reason = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
    throw new RelayError("connect_failed", `${host} can't be reached${reason}.`, { cause });
  } finally {
    options.signal.removeEventListener("abort", abort);
  }
}

function refusedError(host: string, status: number): RelayError {
  if (status === 401 || status === 403) {
    return new RelayError("unauthorized", `${host} refused the credentials with ${status}.`);
  }
  const code = status >= 400 && status < 500 ? "refused" : "connect_failed";
  return new RelayError(code, `${host} answered the WebSocket upgrade with ${status}.`);
}
