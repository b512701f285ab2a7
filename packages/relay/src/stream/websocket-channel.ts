import { answerPings } from "@codexkit/rpc";
import { timerDelay } from "@codexkit/rpc/async";
import type { Socket } from "node:net";
import type { WebSocket } from "ws";
import { RelayError } from "../errors.ts";
import { RELAY_LIMITS, type RelayLimits } from "../limits.ts";
import type { FrameChannel, FrameReceiver } from "./frame-channel.ts";

/** Written at once instead of at the end of the event loop's turn. */
const BATCH_BYTES = 128 * 1024;

export interface WebSocketChannelOptions {
  /** What to do with text messages, which are not frames. Codex's executor ignores them, its harness gives up. */
  readonly onText: "ignore" | "fail";
  /** The connection below the WebSocket. With it, the frames of one event-loop turn leave in one system call. */
  readonly socket?: Socket | undefined;
  /** Whether to answer pings, because the WebSocket was made with `autoPong: false`. Default: false. */
  readonly answersPings?: boolean | undefined;
  readonly limits?: Partial<RelayLimits> | undefined;
}

/** Frames as binary messages of an open WebSocket, with keepalive and flow control. Owns the WebSocket. */
export class WebSocketChannel implements FrameChannel {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket | undefined;
  readonly #limits: RelayLimits;
  readonly #onText: "ignore" | "fail";
  readonly #pings: NodeJS.Timeout;
  readonly #silence: NodeJS.Timeout;
  readonly #onWritten = (): void => this.#written();
  #receiver: FrameReceiver | undefined;
  #end: { readonly cause: Error | undefined } | undefined;
  #isPaused = false;
  #pendingWrites = 0;
  #stall: NodeJS.Timeout | undefined;
  #drained: PromiseWithResolvers<void> | undefined;
  #corkedBytes = 0;
  #isCorked = false;

  constructor(
    webSocket: WebSocket,
    { onText, socket, answersPings = false, limits }: WebSocketChannelOptions,
  ) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#onText = onText;
    this.#limits = { ...RELAY_LIMITS, ...limits };
    socket?.setNoDelay(true);
    // Messages that arrive before `start` would be lost otherwise.
    webSocket.pause();
    webSocket.on("error", (error) =>
      this.#finish(new RelayError("disconnected", "The WebSocket failed.", { cause: error })),
    );
    webSocket.on("close", (code) => this.#finish(closeCause(code)));
    if (answersPings) answerPings(webSocket, this.#limits.highWaterBytes);
    const { pingIntervalMs, pongTimeoutMs } = this.#limits;
    this.#pings = setInterval(() => webSocket.ping(), timerDelay(pingIntervalMs)).unref();
    this.#silence = setTimeout(() => this.#checkSilence(), timerDelay(pongTimeoutMs)).unref();
  }

  start(receiver: FrameReceiver): void {
    this.#receiver = receiver;
    const end = this.#end;
    if (end) {
      queueMicrotask(() => receiver.closed(end.cause));
      return;
    }
    this.#webSocket.on("pong", () => this.#silence.refresh());
    this.#webSocket.on("message", (data, isBinary) => {
      if (this.#end) return;
      this.#silence.refresh();
      if (!isBinary) this.#receivedText();
      else receiver.frame(Buffer.isBuffer(data) ? data : joined(data));
    });
    // One turn later: frames that arrived already must not be delivered before this returns.
    setImmediate(() => this.#isPaused || this.#webSocket.resume());
  }

  get bufferedBytes(): number {
    return this.#webSocket.bufferedAmount;
  }

  send(frame: Uint8Array): Promise<void> | undefined {
    if (this.#end || this.#webSocket.readyState !== this.#webSocket.OPEN) return undefined;
    // Streams wait long before, but answers to frames of the other side don't.
    const { bufferedBytes } = this.#limits;
    if (this.#webSocket.bufferedAmount > 2 * bufferedBytes) {
      this.#fail(new RelayError("limit", `The rendezvous left more than ${2 * bufferedBytes} bytes unread.`));
      return undefined;
    }
    this.#cork();
    this.#webSocket.send(frame, this.#onWritten);
    this.#pendingWrites += 1;
    if (this.#pendingWrites === 1) this.#watchWrites();
    this.#corkedBytes += frame.length;
    if (this.#corkedBytes >= BATCH_BYTES) this.#uncork();
    if (this.#webSocket.bufferedAmount <= this.#limits.highWaterBytes) return undefined;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }

  pause(): void {
    this.#isPaused = true;
    if (!this.#end) this.#webSocket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (this.#end || !this.#receiver) return;
    this.#silence.refresh();
    this.#webSocket.resume();
  }

  async close(): Promise<void> {
    this.#uncork();
    const webSocket = this.#webSocket;
    if (webSocket.readyState === webSocket.CLOSED) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => webSocket.terminate(), timerDelay(this.#limits.closeTimeoutMs));
      webSocket.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      // A paused WebSocket would never read the close frame of the other side.
      webSocket.resume();
      webSocket.close(1000);
    });
  }

  #receivedText(): void {
    if (this.#onText === "ignore") return;
    this.#fail(
      new RelayError("protocol_violation", "The rendezvous sent a text message instead of a frame."),
    );
  }

  #written(): void {
    this.#pendingWrites -= 1;
    if (this.#pendingWrites === 0) clearTimeout(this.#stall);
    else this.#stall?.refresh();
    if (!this.#drained || this.#webSocket.bufferedAmount > this.#limits.highWaterBytes / 2) return;
    this.#drained.resolve();
    this.#drained = undefined;
  }

  #watchWrites(): void {
    const { stalledWriteMs } = this.#limits;
    this.#stall = setTimeout(() => {
      this.#fail(new RelayError("timeout", `The rendezvous accepted no data for ${stalledWriteMs} ms.`));
    }, timerDelay(stalledWriteMs)).unref();
  }

  #checkSilence(): void {
    // A paused WebSocket does not read pongs.
    if (this.#isPaused) this.#silence.refresh();
    else {
      const { pongTimeoutMs } = this.#limits;
      this.#fail(
        new RelayError("timeout", `The rendezvous did not answer a ping within ${pongTimeoutMs} ms.`),
      );
    }
  }

  #cork(): void {
    if (this.#isCorked || !this.#socket) return;
    this.#isCorked = true;
    this.#socket.cork();
    setImmediate(() => this.#uncork());
  }

  #uncork(): void {
    this.#corkedBytes = 0;
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#socket?.uncork();
  }

  /** Terminates an unusable connection, because a closing handshake might never complete. */
  #fail(cause: Error): void {
    this.#finish(cause);
    this.#webSocket.terminate();
  }

  #finish(cause: Error | undefined): void {
    if (this.#end) return;
    this.#end = { cause };
    clearInterval(this.#pings);
    clearTimeout(this.#silence);
    clearTimeout(this.#stall);
    this.#drained?.resolve();
    this.#receiver?.closed(cause);
  }
}

function joined(data: ArrayBuffer | Buffer[]): Buffer {
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

/** The reason in a close frame is untrusted, so that only the code is kept. */
function closeCause(code: number): Error | undefined {
  if (code === 1000 || code === 1001 || code === 1005) return undefined;
  return new RelayError("disconnected", `The WebSocket closed with code ${code}.`);
}
