import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type RawData, WebSocket, type WebSocketServer } from "ws";
import { CLOSE, CLOSE_MS, Replies, startHeartbeat } from "../socket-liveness.ts";
import type { ForwardTarget } from "./owner-proxy.ts";

/** Codes that stand for the absence of a close frame, so that they can't be sent. */
const UNSENDABLE: ReadonlySet<number> = new Set([1004, 1005, 1006, 1015]);

export interface RelaySocketOptions {
  readonly server: WebSocketServer;
  readonly target: ForwardTarget;
  /** Of the upgrade at the other node. */
  readonly timeoutMs: number;
  /** Bytes on their way to one side before the other is no longer read. */
  readonly unsentBytes: number;
  readonly heartbeatMs: number;
  readonly closing: AbortSignal;
  /** Called when both sides have ended, if they were connected. */
  readonly onEnd: () => void;
}

/**
 * Connects the WebSocket of a client with one of another node. Resolves to the response of the node
 * if it refuses. Rejects if the node can't be reached, or if the client has gone.
 */
export async function relaySocket(
  client: { readonly request: IncomingMessage; readonly socket: Duplex; readonly head: Buffer },
  { server, target, timeoutMs, ...options }: RelaySocketOptions,
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
    reject(new Error("The client has gone."));
  };
  client.socket.once("close", giveUp);
  upstream.on("error", reject);
  upstream.once("unexpected-response", (_, response) => resolve(response));
  // In the same step: messages that follow the upgrade would have no listener.
  upstream.once("open", () => {
    let isConnected = false;
    server.handleUpgrade(client.request, client.socket, client.head, (socket) => {
      isConnected = true;
      connect(socket, upstream, options);
    });
    // `ws` has answered a request that is no valid upgrade, and does not call back for a client that has just gone.
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
  { unsentBytes, heartbeatMs, closing, onEnd }: Omit<RelaySocketOptions, "server" | "target" | "timeoutMs">,
): void {
  const sides = [client, upstream] as const;
  const terminating = new Set<NodeJS.Timeout>();
  const stops = sides.map((side) => startHeartbeat(side, heartbeatMs));
  let open = sides.length;
  const goAway = (): void => {
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
    closing.removeEventListener("abort", goAway);
    onEnd();
  };
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    const replies = new Replies(from);
    // Each side is asked by this node: a ping that waits behind output says nothing of the other side.
    from.on("ping", (data) => replies.add((onSent) => from.pong(data, false, onSent)));
    from.on("message", (data: RawData, isBinary: boolean) => {
      to.send(data as Buffer, { binary: isBinary }, () => {
        if (from.isPaused && to.bufferedAmount <= unsentBytes) from.resume();
      });
      if (to.bufferedAmount > unsentBytes) from.pause();
    });
    // `close` follows, with the code that the other side gets.
    from.on("error", () => {});
    from.on("close", (code, reason) => {
      // Its close frame waits behind what it has sent.
      to.resume();
      if (UNSENDABLE.has(code)) to.close();
      else to.close(code, reason);
      end();
    });
  }
  closing.addEventListener("abort", goAway, { once: true });
  if (closing.aborted) goAway();
}
