import { connect } from "node:net";
import type { WebSocket } from "ws";
import { RpcError, toError } from "./errors.ts";
import { DEFAULT_LIMITS, type RpcLimits } from "./limits.ts";
import { timerDelay } from "./timer-delay.ts";
import { WebSocketTransport } from "./websocket-transport.ts";

export interface ConnectWebSocketOptions {
  /** Sent as `Authorization: Bearer …` on the upgrade. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** How long the connection may take to open. Default 10 s, as Codex's own client. */
  readonly connectTimeoutMs?: number;
  readonly limits?: Partial<RpcLimits>;
}

const CONNECT_TIMEOUT_MS = 10_000;

/** How much of a refusal's body an error quotes. */
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
  // Loaded with the first WebSocket: most programs talk to a child over pipes and need none.
  const ws = await import("ws");
  if (signal?.aborted) throw abortedError(url, signal);
  const socket = dial(ws.WebSocket, address, options);
  // Made before the socket opens, so that no frame right behind the handshake is missed.
  const transport = new WebSocketTransport(socket, limits);
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
  // It may have fired between the handshake and this line, and cut the connection.
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
      maxPayload: limits?.messageBytes ?? DEFAULT_LIMITS.messageBytes,
      // Masks keep proxies from taking our bytes for requests. On this machine there is none in between, and a mask of
      // zeros spares both ends a pass over every byte.
      ...(staysHere(url, socketPath) ? { generateMask: () => {} } : {}),
      // Not the `ws+unix:` addresses of `ws`, which can't say every path: spaces, colons.
      ...(socketPath === undefined ? {} : { createConnection: () => connect(socketPath) }),
    });
  } catch (error) {
    throw error instanceof RpcError ? error : connectFailed(String(address), toError(error).message, error);
  }
}

/** Settles when the socket is open or can't be. The limit is on the whole: one on silence could be put off for ever. */
function opened(socket: WebSocket, url: string, limitMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const fail = (detail: string, cause?: Error): void => reject(connectFailed(url, detail, cause));
  const timer = setTimeout(() => fail(`it took longer than ${limitMs} ms.`), timerDelay(limitMs));
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
    // A body that breaks off is quoted as far as it came.
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
  // A string is the path as it is; a URL object has escaped what is special in URLs.
  if (path !== undefined) {
    return { url: "ws://localhost/", socketPath: address instanceof URL ? decodeURIComponent(path) : path };
  }
  throw connectFailed(url, "expected a ws://, wss:// or unix:///absolute/path address.");
}

/** Whether the connection can't leave this machine. */
function staysHere(url: string, socketPath: string | undefined): boolean {
  return socketPath !== undefined || /^ws:\/\/(?:127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?(?:\/|\?|$)/.test(url);
}
