import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { EnvironmentUsage } from "./environment-usage.ts";
import { encodeReset, readFrameHeader } from "./frame-header.ts";
import { HandshakeLimiter, type HandshakeLimits } from "./handshake-limiter.ts";
import type { HarnessConnection } from "./harness-connection.ts";
import { RelaySocket, type SocketLimits } from "./relay-socket.ts";
import type { FrameFilter, RendezvousCounters } from "./rendezvous-counters.ts";

export interface ExecutorIdentity {
  readonly registrationId: string;
  readonly environmentId: string;
  readonly tokenId: string;
  readonly connectionId: string;
}

export interface ConnectionContext {
  readonly webSocket: WebSocket;
  readonly connection: Duplex;
  readonly limits: SocketLimits & HandshakeLimits;
  readonly usage: EnvironmentUsage;
  readonly counters: RendezvousCounters;
  readonly filter: FrameFilter | undefined;
}

interface ClaimedStream {
  harness: HarnessConnection;
  /** Whether the executor has accepted the stream: it has sent a frame that does not reset it. */
  isAccepted: boolean;
}

/** The socket of an executor, and the streams that its harnesses have claimed. */
export class ExecutorConnection {
  readonly identity: ExecutorIdentity;
  readonly socket: RelaySocket;
  readonly usage: EnvironmentUsage;
  readonly harnesses = new Set<HarnessConnection>();
  readonly handshakes: HandshakeLimiter;
  /** Whether this socket is recorded in the store. */
  isAttached = false;
  readonly #streams = new Map<string, ClaimedStream>();
  readonly #counters: RendezvousCounters;
  readonly #filter: FrameFilter | undefined;
  #isClosed = false;

  constructor(identity: ExecutorIdentity, context: ConnectionContext, onClose: () => void) {
    const { webSocket, connection, limits, usage, counters, filter } = context;
    this.identity = identity;
    this.usage = usage;
    this.#counters = counters;
    this.#filter = filter;
    usage.executors += 1;
    this.handshakes = new HandshakeLimiter(limits, (streamId) => this.#timeOut(streamId));
    this.socket = new RelaySocket({
      webSocket,
      connection,
      // An executor without harnesses has nothing to send.
      limits: { ...limits, idleMs: Infinity },
      onFrame: (frame) => this.#receive(frame),
      onViolation: (reason) => counters.refuse(reason),
      onClose: () => {
        this.#isClosed = true;
        usage.executors -= 1;
        for (const harness of this.harnesses) harness.endByExecutor();
        this.handshakes[Symbol.dispose]();
        onClose();
      },
    });
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  ownerOf(streamId: string): HarnessConnection | undefined {
    return this.#streams.get(streamId)?.harness;
  }

  isAccepted(streamId: string): boolean {
    return this.#streams.get(streamId)?.isAccepted ?? false;
  }

  claim(streamId: string, harness: HarnessConnection): void {
    this.#streams.set(streamId, { harness, isAccepted: false });
    this.usage.streams += 1;
  }

  /** Moves a stream to another socket of the same harness. */
  transfer(streamId: string, harness: HarnessConnection): void {
    const stream = this.#streams.get(streamId);
    if (stream) stream.harness = harness;
  }

  release(streamId: string): void {
    if (!this.#streams.delete(streamId)) return;
    this.usage.streams -= 1;
    this.handshakes.abandon(streamId);
  }

  /** Reports the end of a stream to the executor. */
  reset(streamId: string, reason: string): void {
    this.release(streamId);
    if (!this.#isClosed) this.socket.forward(encodeReset(streamId, reason));
  }

  #receive(frame: Buffer): void {
    const header = readFrameHeader(frame);
    if (!header) return this.socket.reject("malformed_frame", 1002);
    const pauseMs = this.usage.countBytes(frame.length);
    if (pauseMs > 0) this.socket.pauseFor(pauseMs);
    const { streamId, isReset } = header;
    const stream = this.#streams.get(streamId);
    if (!stream?.isAccepted) this.handshakes.answered(streamId, isReset);
    if (!stream) {
      // Usually late frames of a stream whose harness has disconnected, which was reported to the executor. It answers a reset.
      if (!isReset) this.#counters.refuse("unknown_stream");
      return;
    }
    const { harness } = stream;
    if (!isReset) stream.isAccepted = true;
    this.#counters.count("to_harness", frame.length);
    if (this.#filter) this.#filter(frame, "to_harness", (kept) => harness.socket.forward(kept, this.socket));
    else harness.socket.forward(frame, this.socket);
    if (isReset) harness.releaseStream(streamId);
  }

  /** Ends a stream that was claimed, but for which the executor has accepted no handshake. */
  #timeOut(streamId: string): void {
    const harness = this.#streams.get(streamId)?.harness;
    if (!harness) return;
    this.#counters.refuse("handshake_timeout");
    harness.resetStream(streamId, "handshake_timeout");
    this.socket.forward(encodeReset(streamId, "handshake_timeout"));
  }
}
