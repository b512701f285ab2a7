import type { RawData, WebSocket } from "ws";
import { RpcError } from "./errors.ts";
import { DEFAULT_LIMITS, type RpcLimits } from "./limits.ts";
import { timerDelay } from "./timer-delay.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

/** Above this many unsent bytes a sender is asked to wait. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** Close codes: https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1. */
const NORMAL_CLOSURE = 1000;
const NO_CODE_GIVEN = 1005;
const MESSAGE_TOO_BIG = 1009;

const TOO_LARGE = "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";

/** One JSON message a text frame, over an open WebSocket of either end. */
export class WebSocketTransport implements Transport {
  readonly #socket: WebSocket;
  readonly #limits: RpcLimits;
  #receiver: TransportReceiver | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #end: { cause: Error | undefined } | undefined;
  #isPaused = false;

  constructor(socket: WebSocket, limits?: Partial<RpcLimits>) {
    this.#socket = socket;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    // Frames that come before `start` would otherwise be lost. A socket that is still opening can't be paused yet.
    if (socket.readyState !== socket.CONNECTING) socket.pause();
    else socket.once("open", () => this.#receiver ?? socket.pause());
    // What can't be read makes `ws` send a close frame of its own, with the code that fits.
    socket.on("error", (error) => this.#fail(asLimitError(error, this.#limits.messageBytes)));
    socket.on("close", (code, reason) => this.#finish(closeCause(code, reason.toString())));
  }

  start(receiver: TransportReceiver): void {
    this.#receiver = receiver;
    const { messageBytes } = this.#limits;
    const end = this.#end;
    if (end) {
      queueMicrotask(() => receiver.closed(end.cause));
      return;
    }
    this.#socket.on("message", (data, isBinary) => {
      if (this.#end) return;
      const bytes = frameBytes(data);
      if (bytes.length > messageBytes) {
        // The socket of a server has the limit of that server, which may be another.
        this.#fail(tooLarge(messageBytes), MESSAGE_TOO_BIG);
      } else if (isBinary) {
        receiver.malformed(new RpcError("malformed", "A binary frame came; messages are text frames."));
      } else {
        receiver.text(bytes.toString("utf8"));
      }
    });
    this.#watch();
    this.#socket.resume();
  }

  pause(): void {
    if (this.#end) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume();
  }

  send(message: string): Promise<void> | undefined {
    const { readyState, OPEN, bufferedAmount } = this.#socket;
    if (this.#end || readyState !== OPEN) {
      throw new RpcError("closed", "The connection is closed.", { cause: this.#end?.cause });
    }
    if (bufferedAmount > this.#limits.bufferedBytes) {
      throw new RpcError(
        "queue_full",
        `The other side does not read: ${bufferedAmount} bytes wait, the limit is ${this.#limits.bufferedBytes} (bufferedBytes).`,
      );
    }
    if (bufferedAmount <= HIGH_WATER_BYTES) {
      this.#socket.send(message, ignoreError);
      return undefined;
    }
    // A frame that can't be written shows as "close" too, and that is where pending calls learn of it.
    return new Promise((resolve) => {
      this.#socket.send(message, () => resolve());
    });
  }

  async close(code = NORMAL_CLOSURE): Promise<void> {
    if (this.#socket.readyState === this.#socket.CLOSED) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => this.#socket.terminate(), timerDelay(this.#limits.closeTimeoutMs));
      this.#socket.once("close", () => {
        clearTimeout(timer);
        resolve();
      });
      // A paused socket would never read the other side's close frame.
      if (this.#socket.isPaused) this.#socket.resume();
      this.#socket.close(code);
    });
  }

  /** A dead network says nothing: without pings a call could wait for its timeout, and a listener for ever. */
  #watch(): void {
    const { heartbeatMs } = this.#limits;
    let alive = true;
    const heard = (): void => {
      alive = true;
    };
    this.#socket.on("pong", heard);
    // A pong may wait behind the messages of a busy peer: they say as much.
    this.#socket.on("message", heard);
    this.#heartbeat = setInterval(() => {
      // A paused socket reads no pong either.
      if (this.#isPaused) alive = true;
      if (!alive) {
        this.#finish(new Error(`The other side answered no ping for ${heartbeatMs} ms.`));
        this.#socket.terminate();
        return;
      }
      alive = false;
      this.#socket.ping(ignoreError);
    }, timerDelay(heartbeatMs));
    this.#heartbeat.unref();
  }

  /** The peer learns at once: the other side may take its time over the closing handshake, or never answer it. */
  #fail(cause: Error, code?: number): void {
    this.#finish(cause);
    void this.close(code);
  }

  #finish(cause: Error | undefined): void {
    if (this.#end) return;
    this.#end = { cause };
    clearInterval(this.#heartbeat);
    this.#receiver?.closed(cause);
  }
}

function frameBytes(data: RawData): Buffer {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
}

function closeCause(code: number, reason: string): Error | undefined {
  if (code === NORMAL_CLOSURE || code === NO_CODE_GIVEN) return undefined;
  const what = `The WebSocket closed with code ${code}${reason === "" ? "" : `: ${reason}`}.`;
  return code === MESSAGE_TOO_BIG ? new RpcError("message_too_large", what) : new Error(what);
}

function asLimitError(error: Error, limit: number): Error {
  return (error as { code?: unknown }).code === TOO_LARGE ? tooLarge(limit, error) : error;
}

function tooLarge(limit: number, cause?: Error): RpcError {
  return new RpcError(
    "message_too_large",
    `A frame of more than ${limit} bytes came; the limit is messageBytes.`,
    { cause },
  );
}

/** Errors of single frames are reported by the "close" that follows them. */
function ignoreError(): void {}
