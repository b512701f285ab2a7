import { connect } from "node:net";
import type { WebSocket } from "ws";
import { answerPings } from "./answer-pings.ts";
import { RpcError, toError } from "./errors.ts";
import { RPC_LIMITS, type RpcLimits } from "./limits.ts";
import { timerDelay } from "./timer-delay.ts";
import { WebSocketTransport } from "./websocket-transport.ts";

export interface ConnectWebSocketOptions {
  /** Sent as `Authorization: Bearer …` on the upgrade. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Time limit for opening the connection. Default: 10 s, as in Codex's own client. */
  readonly connectTimeoutMs?: number;
  readonly limits?: Partial<RpcLimits>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** Number of characters that the error quotes from the body of a rejected upgrade. */
const QUOTED_BODY_CHARACTERS = 300;

/**
 * Opens a WebSocket to `ws://…`, `wss://…` or `unix:///path/to/socket` (a WebSocket over a unix socket).
 */
export async function connectWebSocket(
  address: string | URL,
  options: ConnectWebSocketOptions = {},
): Promise<WebSocketTransport> {
  const { signal, connectTimeoutMs = CONNECT_TIMEOUT_MS, limits } = options;
  const url = String(address);
  if (signal?.aborted) throw abortedError(url, signal);
  // Loaded on first use: most programs talk to a child process over pipes and don't need it.
  const ws = await import("ws");
  if (signal?.aborted) throw abortedError(url, signal);
  const socket = dial(ws.WebSocket, address, options);
  // Created before the socket opens, so that no frame right after the handshake is missed.
  const transport = new WebSocketTransport(socket, limits);
  answerPings(socket);
  const abort = (): void => socket.terminate();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await opened(socket, url, connectTimeoutMs);
  } catch (error) {
    socket.terminate();
    if (signal?.aborted) throw abortedError(url, signal);
    throw error;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
  // The signal may have aborted, and terminated the socket, since the handshake.
  if (signal?.aborted) throw abortedError(url, signal);
  return transport;
}

function dial(
  Socket: typeof WebSocket,
  address: string | URL,
  { headers, token, limits }: ConnectWebSocketOptions,
): WebSocket {
  try {
    const { url, socketPath } = target(address);
    return new Socket(url, {
      headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
      // Messages are small and local: compression costs more than it saves.
      perMessageDeflate: false,
      autoPong: false,
      maxPayload: limits?.messageBytes ?? RPC_LIMITS.messageBytes,
      // Masking protects proxies from crafted payloads. A local connection has no proxy, and a mask of zeros saves
      // both ends a pass over every byte.
      ...(isLocal(url, socketPath) ? { generateMask: () => {} } : {}),
      // The `ws+unix:` URLs of `ws` can't express every path, such as those with spaces or colons.
      ...(socketPath === undefined ? {} : { createConnection: () => connect(socketPath) }),
    });
  } catch (error) {
    throw RpcError.is(error) ? error : connectFailed(String(address), toError(error).message, error);
  }
}

/**
 * Settles when the socket is open or has failed. The timeout covers the whole handshake: an idle timeout could be
 * postponed forever.
 */
function opened(socket: WebSocket, url: string, limitMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (detail: string, cause?: Error): void => reject(connectFailed(url, detail, cause));
  const timer = setTimeout(
    () => fail(`it took longer than ${limitMs} ms (connectTimeoutMs).`),
    timerDelay(limitMs),
  );
  socket.once("open", resolve);
  socket.once("error", (error) => fail(error.message, error));
  socket.once("unexpected-response", (_request, response) => {
    let body = "";
    const refuse = (): void => {
      const quoted = body.trim().slice(0, QUOTED_BODY_CHARACTERS);
      fail(`the server answered ${response.statusCode}${quoted === "" ? "" : `: ${quoted}`}`);
    };
    response.setEncoding("utf8");
    response.on("data", (text: string) => {
      body += text;
      if (body.length >= QUOTED_BODY_CHARACTERS) refuse();
    });
    // If the body is truncated, the received part is quoted.
    response.on("error", refuse);
    response.on("close", refuse);
  });
  return promise.finally(() => clearTimeout(timer));
}

function connectFailed(url: string, detail: string, cause?: unknown): RpcError {
  return new RpcError("connect_failed", `Could not connect to ${url}: ${detail}`, { cause });
}

function abortedError(url: string, signal: AbortSignal): RpcError {
  return new RpcError("aborted", `Connecting to ${url} was aborted.`, { cause: signal.reason });
}

function target(address: string | URL): { url: string; socketPath?: string } {
  const url = String(address);
  if (/^wss?:\/\//.test(url)) return { url };
  const path = /^unix:\/\/(?<path>\/.+)$/.exec(url)?.groups?.["path"];
  // A string contains the path verbatim; a URL object has percent-encoded it.
  if (path !== undefined) {
    return { url: "ws://localhost/", socketPath: address instanceof URL ? decodeURIComponent(path) : path };
  }
  throw connectFailed(url, "expected a ws://, wss:// or unix:///absolute/path address.");
}

/** Whether the connection stays on this machine. */
function isLocal(url: string, socketPath: string | undefined): boolean {
  return socketPath !== undefined || /^ws:\/\/(?:127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|\?|$)/.test(url);
}
