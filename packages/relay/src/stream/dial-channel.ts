import type { Socket } from "node:net";
import { WebSocket } from "ws";
import { RelayError } from "../errors.ts";
import { RELAY_LIMITS, type RelayLimits } from "../limits.ts";
import { WebSocketChannel } from "./websocket-channel.ts";

export interface DialChannelOptions {
  readonly role: "executor" | "harness";
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<RelayLimits> | undefined;
}

/**
 * Connects to a rendezvous. Rejects with `unauthorized` for the status codes 401 and 403, with `refused` for other codes
 * of 400 to 499, and with `connect_failed` otherwise. Redirects are not followed, since the URL holds credentials.
 */
export async function dialChannel(url: string | URL, options: DialChannelOptions): Promise<WebSocketChannel> {
  const limits = { ...RELAY_LIMITS, ...options.limits };
  const { signal } = options;
  if (signal?.aborted) throw aborted(signal);
  const webSocket = openWebSocket(url, options, limits);
  const opened = Promise.withResolvers<Socket>();
  let socket: Socket | undefined;
  webSocket.once("upgrade", (response) => {
    ({ socket } = response);
  });
  webSocket.once("unexpected-response", (_request, response) => {
    opened.reject(upgradeError(response.statusCode ?? 0));
    webSocket.terminate();
  });
  webSocket.on("error", () => opened.reject(connectFailed()));
  webSocket.once("open", () => (socket ? opened.resolve(socket) : opened.reject(connectFailed())));
  const onAbort = (): void => {
    if (signal) opened.reject(aborted(signal));
    webSocket.terminate();
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    // The channel is created in the same event-loop turn as "open". Otherwise, it would miss messages.
    const channel = new Promise<WebSocketChannel>((resolve) => {
      webSocket.once("open", () =>
        resolve(
          new WebSocketChannel(webSocket, {
            onText: options.role === "executor" ? "ignore" : "fail",
            socket,
            answersPings: true,
            limits,
          }),
        ),
      );
    });
    await opened.promise;
    return await channel;
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}

function openWebSocket(url: string | URL, options: DialChannelOptions, limits: RelayLimits): WebSocket {
  try {
    return new WebSocket(url, {
      headers: options.headers ?? {},
      handshakeTimeout: limits.connectTimeoutMs,
      maxPayload: limits.frameBytes,
      perMessageDeflate: false,
      followRedirects: false,
      // The channel answers pings.
      autoPong: false,
      // Masking protects proxies from content that a web page chooses. Frames are ciphertext that no page chooses, and
      // masking them would cost as much as encrypting them. `ws` skips it for a zero mask, on both sides.
      generateMask: (mask) => mask.fill(0),
    });
  } catch {
    throw new RelayError("bad_option", "The URL of the rendezvous is not a WebSocket URL.");
  }
}

function upgradeError(status: number): RelayError {
  if (status === 401 || status === 403) {
    return new RelayError("unauthorized", `The rendezvous refused the credentials (${status}).`);
  }
  const code = status >= 400 && status < 500 ? "refused" : "connect_failed";
  return new RelayError(code, `The rendezvous answered the WebSocket upgrade with status ${status}.`);
}

/** The error of `ws` is not the cause, because it may contain the URL, which holds credentials. */
function connectFailed(): RelayError {
  return new RelayError("connect_failed", "The rendezvous could not be reached.");
}

function aborted(signal: AbortSignal): RelayError {
  return new RelayError("aborted", "Connecting to the rendezvous was aborted.", { cause: signal.reason });
}
