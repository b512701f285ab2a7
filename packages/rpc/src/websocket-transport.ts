import type { RawData, WebSocket } from "ws";
import { RpcError } from "./errors.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { RPC_LIMITS, type RpcLimits } from "./limits.ts";
import { timerDelay } from "./timer-delay.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

/** Unsent bytes above which a sender is asked to wait. */
const HIGH_WATER_BYTES = 1024 * 1024;

/** Close codes: https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1. */
const NORMAL_CLOSURE = 1000;
const NO_CODE_GIVEN = 1005;
const MESSAGE_TOO_BIG = 1009;

const TOO_LARGE = "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH";

/** One JSON message per text frame, over an open WebSocket of either end. */
export class WebSocketTransport implements Transport {
  readonly #socket: WebSocket;
  readonly #limits: RpcLimits;
  #receiver: TransportReceiver | undefined;
  #stopHeartbeat: (() => void) | undefined;
  #end: { cause: Error | undefined } | undefined;

  constructor(socket: WebSocket, limits?: Partial<RpcLimits>) {
    this.#socket = socket;
    this.#limits = { ...RPC_LIMITS, ...limits };
    // Frames received before `start` would be lost otherwise. A socket that is still connecting can't be paused yet.
    if (socket.readyState !== socket.CONNECTING) socket.pause();
    else socket.once("open", () => this.#receiver ?? socket.pause());
    // For unreadable data, `ws` itself sends a close frame with the matching code.
    socket.on("error", (error) => this.#fail(toLimitError(error, this.#limits.messageBytes)));
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
        // A server's socket uses the limit of its server, which may be higher.
        this.#fail(tooLarge(messageBytes), MESSAGE_TOO_BIG);
      } else if (isBinary) {
        receiver.malformed(
          new RpcError("malformed", "Received a binary frame; messages must be text frames."),
        );
      } else {
        receiver.text(bytes.toString("utf8"));
      }
    });
    this.#watch();
    this.#socket.resume();
  }

  pause(): void {
    if (this.#end) return;
    this.#socket.pause();
  }

  resume(): void {
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
        `The other side is not reading: ${bufferedAmount} bytes are buffered, the limit is ${this.#limits.bufferedBytes} (bufferedBytes).`,
      );
    }
    if (bufferedAmount <= HIGH_WATER_BYTES) {
      this.#socket.send(message, ignoreError);
      return undefined;
    }
    // A failed write also emits "close", which rejects the pending calls.
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

  /** Detects a dead network. Without pings a call would wait for its timeout, and a listener forever. */
  #watch(): void {
    const { heartbeatIntervalMs } = this.#limits;
    this.#stopHeartbeat = startHeartbeat(this.#socket, heartbeatIntervalMs, () => {
      this.#finish(new Error(`The other side did not answer a ping within ${heartbeatIntervalMs} ms.`));
      this.#socket.terminate();
    });
  }

  /** Notifies the peer at once: the closing handshake may take long or never complete. */
  #fail(cause: Error, code?: number): void {
    this.#finish(cause);
    void this.close(code);
  }

  #finish(cause: Error | undefined): void {
    if (this.#end) return;
    this.#end = { cause };
    this.#stopHeartbeat?.();
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

function toLimitError(error: Error, limit: number): Error {
  return (error as { code?: unknown }).code === TOO_LARGE ? tooLarge(limit, error) : error;
}

function tooLarge(limit: number, cause?: Error): RpcError {
  return new RpcError("message_too_large", `Received a frame of more than ${limit} bytes (messageBytes).`, {
    cause,
  });
}

/** Errors of single frames are reported by the "close" that follows them. */
function ignoreError(): void {}
