import type { Duplex } from "node:stream";
import { answerPings } from "@codexkit/rpc";
import { timerDelay } from "@codexkit/rpc/async";
import { WebSocket } from "ws";
import type { RegistryLimits } from "../limits.ts";

export type SocketLimits = Pick<RegistryLimits, "bufferedBytes" | "stallMs" | "pingMs" | "idleMs">;

export interface RelaySocketOptions {
  readonly webSocket: WebSocket;
  /** The connection below the WebSocket. */
  readonly connection: Duplex;
  readonly limits: SocketLimits;
  readonly onFrame: (frame: Buffer) => void;
  readonly onClose: () => void;
  /** The peer violated the protocol or a limit. The socket is being closed. */
  readonly onViolation: (reason: SocketViolation) => void;
}

export type SocketViolation =
  | "malformed_frame"
  | "repeated_handshake"
  | "failed_handshakes"
  | "text_message"
  | "slow_reader"
  | "silent"
  | "idle"
  | "bad_websocket";

const BINARY = { binary: true } as const;

/** Smaller frames are copied while they wait. Otherwise, they would keep the whole received chunk in memory. */
const COPY_BELOW_BYTES = 4096;

/** The socket of one end. Sends frames to it, and pauses the sockets that send more than its peer reads. */
export class RelaySocket {
  readonly #webSocket: WebSocket;
  readonly #connection: Duplex;
  readonly #limits: SocketLimits;
  readonly #onViolation: (reason: SocketViolation) => void;
  readonly #bufferLimit: number;
  /** Sockets that this one has paused. */
  readonly #held = new Set<RelaySocket>();
  #isCorked = false;
  #pauses = 0;
  /** Whether data arrived since the last check. */
  #isHeard = true;
  #hasFrames = true;
  #heardAt = 0;
  #framesAt = 0;
  #isClosing = false;
  #rateTimer: NodeJS.Timeout | undefined;

  constructor({ webSocket, connection, limits, onFrame, onClose, onViolation }: RelaySocketOptions) {
    this.#webSocket = webSocket;
    this.#connection = connection;
    this.#limits = limits;
    this.#onViolation = onViolation;
    this.#bufferLimit = Math.max(limits.bufferedBytes, connection.writableHighWaterMark);
    webSocket.on("message", (data: Buffer, isBinary) => {
      this.#isHeard = true;
      this.#hasFrames = true;
      if (this.#isClosing) return;
      if (isBinary) onFrame(data);
      else this.reject("text_message", 1003);
    });
    for (const sign of ["ping", "pong"]) webSocket.on(sign, () => (this.#isHeard = true));
    answerPings(webSocket, this.#bufferLimit);
    // Emitted for too large and invalid messages. ws sends the close code and ends the connection.
    webSocket.on("error", () => onViolation("bad_websocket"));
    webSocket.once("close", () => {
      this.#isClosing = true;
      clearTimeout(this.#rateTimer);
      onClose();
    });
  }

  /** Whether the socket has ended, or will without processing further frames. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** Sends a frame. The source is paused while too much waits for this socket's peer. */
  forward(frame: Uint8Array, source?: RelaySocket): void {
    if (this.#webSocket.readyState !== WebSocket.OPEN) return;
    const waiting = this.#connection.writableLength;
    // All frames of one chunk are sent with one system call.
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#connection.cork();
      process.nextTick(this.#uncork);
    }
    const kept = waiting > 0 && frame.length < COPY_BELOW_BYTES ? Buffer.from(frame) : frame;
    if (waiting > this.#bufferLimit && source && !this.#held.has(source)) {
      this.#webSocket.send(kept, BINARY, this.#hold(source));
    } else this.#webSocket.send(kept, BINARY);
  }

  /** Stops reading until `resume` is called as often. Frames that have been read already are still emitted. */
  pause(): void {
    this.#pauses += 1;
    if (this.#pauses === 1) this.#webSocket.pause();
  }

  resume(): void {
    this.#pauses -= 1;
    if (this.#pauses === 0) this.#webSocket.resume();
  }

  /** Stops reading for a period. A later call replaces the period of an earlier one. */
  pauseFor(milliseconds: number): void {
    if (this.#rateTimer) clearTimeout(this.#rateTimer);
    else this.pause();
    this.#rateTimer = setTimeout(() => {
      this.#rateTimer = undefined;
      this.resume();
    }, timerDelay(milliseconds));
  }

  /** Sends a ping. Closes the socket if no data has arrived for too long. */
  check(now: number): void {
    if (this.#isClosing) return;
    // A paused socket is not read, so no conclusion is possible.
    if (this.#isHeard || this.#pauses > 0) this.#heardAt = now;
    if (this.#hasFrames) this.#framesAt = now;
    this.#isHeard = false;
    this.#hasFrames = false;
    if (now - this.#heardAt >= 2 * this.#limits.pingMs) {
      this.#onViolation("silent");
      return this.terminate();
    }
    if (now - this.#framesAt >= this.#limits.idleMs) return this.reject("idle", 1001);
    this.#webSocket.ping();
  }

  /** Closes the socket after a violation by its peer. */
  reject(reason: SocketViolation, code: number): void {
    if (this.#isClosing) return;
    this.#onViolation(reason);
    this.close(code, reason);
  }

  close(code: number, reason: string): void {
    this.#isClosing = true;
    this.#webSocket.close(code, reason);
    // Otherwise, the response to the close frame would not be read.
    if (this.#pauses > 0) this.#webSocket.resume();
  }

  terminate(): void {
    this.#isClosing = true;
    this.#webSocket.terminate();
  }

  /** Returns the callback for the frame that filled the buffer. When it is called, everything before it has been sent. */
  #hold(source: RelaySocket): () => void {
    this.#held.add(source);
    source.pause();
    const timer = setTimeout(() => {
      this.#onViolation("slow_reader");
      this.terminate();
    }, timerDelay(this.#limits.stallMs));
    return () => {
      clearTimeout(timer);
      this.#held.delete(source);
      source.resume();
    };
  }

  readonly #uncork = (): void => {
    this.#isCorked = false;
    this.#connection.uncork();
  };
}
