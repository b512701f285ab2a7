import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { EnvironmentUsage } from "./environment-usage.ts";
import { encodeReset, readFrameHeader } from "./frame-header.ts";
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
  readonly limits: SocketLimits;
  readonly usage: EnvironmentUsage;
  readonly counters: RendezvousCounters;
  readonly filter: FrameFilter | undefined;
}

/** The socket of an executor, and the streams that its harnesses have claimed. */
export class ExecutorConnection {
  readonly identity: ExecutorIdentity;
  readonly socket: RelaySocket;
  readonly usage: EnvironmentUsage;
  readonly harnesses = new Set<HarnessConnection>();
  /** Whether this socket is recorded in the store. */
  isAttached = false;
  readonly #streams = new Map<string, HarnessConnection>();
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
        onClose();
      },
    });
  }

  get streamCount(): number {
    return this.#streams.size;
  }

  ownerOf(streamId: string): HarnessConnection | undefined {
    return this.#streams.get(streamId);
  }

  claim(streamId: string, harness: HarnessConnection): void {
    this.#streams.set(streamId, harness);
    this.usage.streams += 1;
  }

  /** Moves a stream to another socket of the same harness. */
  transfer(streamId: string, harness: HarnessConnection): void {
    this.#streams.set(streamId, harness);
  }

  release(streamId: string): void {
    if (this.#streams.delete(streamId)) this.usage.streams -= 1;
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
    const harness = this.#streams.get(header.streamId);
    // Usually late frames of a stream whose harness has disconnected, which was reported to the executor.
    if (!harness) return this.#counters.refuse("unknown_stream");
    this.#counters.count("to_harness", frame.length);
    if (this.#filter) this.#filter(frame, "to_harness", (kept) => harness.socket.forward(kept, this.socket));
    else harness.socket.forward(frame, this.socket);
    if (header.isReset) harness.releaseStream(header.streamId);
  }
}
