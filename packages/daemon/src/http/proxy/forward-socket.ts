import { startHeartbeat } from "@codexkit/rpc";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, WebSocket, type WebSocketServer } from "ws";
import { CLOSE, CLOSE_MS, Replies } from "../socket-liveness.ts";
import type { ForwardTarget } from "./owner-proxy.ts";

/** Close codes that only exist locally and can't be sent in a close frame. */
const UNSENDABLE: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015]);

export interface ForwardSocketOptions {
  readonly server: WebSocketServer;
  readonly target: ForwardTarget;
  /** Timeout of the WebSocket upgrade at the other node. */
  readonly timeoutMs: number;
  /** Number of unsent bytes to one side above which reading from the other side is paused. */
  readonly unsentBytes: number;
  readonly heartbeatMs: number;
  readonly closing: AbortSignal;
  /** Called when both sides have closed. Not called if they were never connected. */
  readonly onEnd: () => void;
}

/**
 * Connects a client's WebSocket to a WebSocket of another node. Resolves to the node's response if the node rejects the
 * upgrade, or to `refused` if the client's upgrade fails. Rejects if the node can't be reached or the client
 * disconnects.
 */
export async function forwardSocket(
  client: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
  { server, target, timeoutMs, ...options }: ForwardSocketOptions,
): Promise<"connected" | "refused" | IncomingMessage> {
  const url = new URL(target.url);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  const upstream = new WebSocket(url, {
    headers: target.headers,
    handshakeTimeout: timeoutMs,
    perMessageDeflate: false,
    followRedirects: false,
    autoPong: false,
  });
  const { promise, resolve, reject } = Promise.withResolvers<"connected" | "refused" | IncomingMessage>();
  const giveUp = (): void => {
    upstream.terminate();
    reject(new Error("The client disconnected before the node answered."));
  };
  client.socket.once("close", giveUp);
  upstream.on("error", reject);
  upstream.once("unexpected-response", (_, response) => resolve(response));
  // There must be no await in between: messages that follow the upgrade would be lost, because there is no listener
  // yet.
  upstream.once("open", () => {
    let isConnected = false;
    server.handleUpgrade(client.request, client.socket, client.head, (socket) => {
      isConnected = true;
      connect(socket, upstream, options);
    });
    // `ws` does not call back if the upgrade is invalid, in which case it responds itself, or if the client has just
    // disconnected.
    if (!isConnected) upstream.terminate();
    resolve(isConnected ? "connected" : "refused");
  });
  try {
    return await promise;
  } finally {
    client.socket.off("close", giveUp);
  }
}

function connect(
  client: WebSocket,
  upstream: WebSocket,
  { unsentBytes, heartbeatMs, closing, onEnd }: Omit<ForwardSocketOptions, "server" | "target" | "timeoutMs">,
): void {
  const sides = [client, upstream] as const;
  const terminating = new Set<NodeJS.Timeout>();
  const stops = sides.map((side) => startHeartbeat(side, heartbeatMs));
  let open = sides.length;
  const onClosing = (): void => {
    for (const side of sides) {
      side.resume();
      side.close(CLOSE.goingAway);
      terminating.add(setTimeout(() => side.terminate(), CLOSE_MS));
    }
  };
  const end = (): void => {
    open -= 1;
    if (open > 0) return;
    for (const stop of stops) stop();
    for (const timer of terminating) clearTimeout(timer);
    closing.removeEventListener("abort", onClosing);
    onEnd();
  };
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    const replies = new Replies(from);
    // This node answers the pings of each side itself. A forwarded ping would wait behind output, and its pong would
    // say nothing about the connection to the other side.
    from.on("ping", (data) => replies.add((onSent) => from.pong(data, false, onSent)));
    from.on("message", (data: RawData, isBinary: boolean) => {
      // `ws` counts what is sent to a closed socket as unsent for ever, so `from` would stay paused and not read its close frame.
      if (to.readyState !== WebSocket.OPEN) return;
      to.send(data as Buffer, { binary: isBinary }, () => {
        if (from.isPaused && to.bufferedAmount <= unsentBytes) from.resume();
      });
      if (to.bufferedAmount > unsentBytes) from.pause();
    });
    // The `close` event follows, with the close code for the other side.
    from.on("error", () => {});
    from.on("close", (code, reason) => {
      // A paused socket would not read the close frame.
      to.resume();
      if (UNSENDABLE.has(code)) to.close();
      else to.close(code, reason);
      end();
    });
  }
  closing.addEventListener("abort", onClosing, { once: true });
  if (closing.aborted) onClosing();
}
