import type { Logger } from "@codexkit/exec-server";
import type { Transport } from "@codexkit/rpc";
import { WebSocket } from "ws";
import { RelayError } from "../errors.ts";
import { openWebSocket } from "./open-websocket.ts";
import type { StreamServer } from "./stream-server.ts";

export interface ForwarderOptions {
  /** The exec-server that streams are forwarded to. */
  readonly url: string;
  /** Sent to the exec-server as `Authorization: Bearer …`. */
  readonly token?: string;
  readonly log: Logger;
}

/** The largest frame that is sent. Codex's exec-server drops the connection above 16 MiB. */
const FRAME_BYTES = 8 * 1024 * 1024;

/** While more than this many bytes wait to be sent to the exec-server, the stream is not read. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** Forwards each stream to an exec-server over a separate connection. Messages are not changed. */
export class Forwarder implements StreamServer {
  readonly longestMessageBytes = 64 * 1024 * 1024;
  readonly #options: ForwarderOptions;
  readonly #stopping = new AbortController();
  readonly #open = new Set<Promise<void>>();

  constructor(options: ForwarderOptions) {
    if (!URL.canParse(options.url) || !/^wss?:$/.test(new URL(options.url).protocol)) {
      throw new RelayError(
        "bad_option",
        `--connect expects a ws:// or wss:// URL, but received "${options.url}".`,
      );
    }
    this.#options = options;
  }

  accept(transport: Transport): void {
    const forwarding = this.#forward(transport).finally(() => this.#open.delete(forwarding));
    this.#open.add(forwarding);
  }

  async #forward(transport: Transport): Promise<void> {
    const { url, token, log } = this.#options;
    try {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const socket = await openWebSocket(url, {
        headers,
        maxPayload: this.longestMessageBytes,
        signal: this.#stopping.signal,
      });
      await pipe(transport, socket);
    } catch (error) {
      log.warn("the exec-server can't be reached", {
        error: error instanceof Error ? error.message : undefined,
      });
    }
    await transport.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#open);
  }
}

/** Resolves when either side has closed and the exec-server's last messages were forwarded. */
async function pipe(transport: Transport, socket: WebSocket): Promise<void> {
  const closed = Promise.withResolvers<void>();
  socket.on("message", (data: Buffer) => {
    let sending: Promise<void> | undefined;
    try {
      sending = transport.send(data.toString("utf8"));
    } catch {
      socket.terminate();
      return;
    }
    if (!sending) return;
    socket.pause();
    void sending.finally(() => socket.resume());
  });
  socket.on("error", () => {});
  socket.on("close", () => closed.resolve());
  let isPaused = false;
  const onSent = (): void => {
    if (!isPaused || socket.bufferedAmount > HIGH_WATER_BYTES / 2) return;
    isPaused = false;
    transport.resume?.();
  };
  transport.start({
    text: (message) => {
      sendInFrames(socket, message, onSent);
      if (isPaused || socket.bufferedAmount <= HIGH_WATER_BYTES) return;
      isPaused = true;
      transport.pause?.();
    },
    malformed: () => socket.terminate(),
    closed: () => {
      socket.close();
      // Don't wait for a server that does not answer the closing handshake.
      setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS).unref();
    },
  });
  socket.resume();
  await closed.promise;
}

/** Codex's number. */
const CLOSE_TIMEOUT_MS = 1_000;

function sendInFrames(socket: WebSocket, message: string, onSent: () => void): void {
  if (socket.readyState !== WebSocket.OPEN) return;
  if (message.length * 3 <= FRAME_BYTES) {
    socket.send(message, { binary: false }, onSent);
    return;
  }
  const bytes = Buffer.from(message);
  for (let at = 0; at < bytes.length; at += FRAME_BYTES) {
    const fin = at + FRAME_BYTES >= bytes.length;
    socket.send(bytes.subarray(at, at + FRAME_BYTES), { binary: false, fin }, onSent);
  }
}
