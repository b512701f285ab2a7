import type { ConnectionContext, ExecutorConnection } from "./executor-connection.ts";
import { encodeReset, readFrameHeader } from "./frame-header.ts";
import { RelaySocket } from "./relay-socket.ts";
import type { FrameFilter, RendezvousCounters } from "./rendezvous-counters.ts";

export interface HarnessIdentity {
  readonly grantId: string;
  readonly environmentId: string;
  readonly registrationId: string;
  readonly tokenId: string;
  readonly harnessKeyHash: string;
}

/** The socket of a harness. It sends to the streams that it has claimed, and receives from them only. */
export class HarnessConnection {
  readonly identity: HarnessIdentity;
  readonly socket: RelaySocket;
  readonly #executor: ExecutorConnection;
  readonly #counters: RendezvousCounters;
  readonly #filter: FrameFilter | undefined;
  readonly #streams = new Set<string>();

  constructor(
    identity: HarnessIdentity,
    executor: ExecutorConnection,
    context: ConnectionContext,
    onClose: () => void,
  ) {
    const { webSocket, connection, limits, usage, counters, filter } = context;
    this.identity = identity;
    this.#executor = executor;
    this.#counters = counters;
    this.#filter = filter;
    usage.harnesses += 1;
    executor.harnesses.add(this);
    this.socket = new RelaySocket({
      webSocket,
      connection,
      limits,
      onFrame: (frame) => this.#receive(frame),
      onViolation: (reason) => counters.refuse(reason),
      onClose: () => {
        usage.harnesses -= 1;
        executor.harnesses.delete(this);
        for (const streamId of this.#streams) executor.reset(streamId, "harness_disconnected");
        this.#streams.clear();
        onClose();
      },
    });
  }

  /** Ends the streams after the executor has disconnected. They can't continue over another socket of the executor. */
  endByExecutor(): void {
    for (const streamId of this.#streams) {
      this.#executor.release(streamId);
      this.socket.forward(encodeReset(streamId, "executor_disconnected"));
    }
    this.#streams.clear();
    this.socket.close(1012, "executor disconnected");
  }

  /** Releases a stream that has ended. Its ID can be used again. */
  releaseStream(streamId: string): void {
    if (this.#streams.delete(streamId)) this.#executor.release(streamId);
  }

  #receive(frame: Buffer): void {
    const header = readFrameHeader(frame);
    if (!header) return this.socket.reject("malformed_frame", 1002);
    const { streamId, isReset } = header;
    if (!this.#streams.has(streamId) && !this.#claim(streamId)) return;
    const executor = this.#executor;
    const pauseMs = executor.usage.countBytes(frame.length);
    if (pauseMs > 0) this.socket.pauseFor(pauseMs);
    this.#counters.count("to_executor", frame.length);
    if (this.#filter)
      this.#filter(frame, "to_executor", (kept) => executor.socket.forward(kept, this.socket));
    else executor.socket.forward(frame, this.socket);
    if (isReset) this.releaseStream(streamId);
  }

  #claim(streamId: string): boolean {
    const owner = this.#executor.ownerOf(streamId);
    if (!owner) {
      if (!this.#executor.usage.canAddStream) return this.#refuse(streamId, "too_many_streams");
      this.#executor.claim(streamId, this);
    } else if (this.#isSameHarness(owner)) {
      // The harness has reconnected before the end of its earlier connection was detected.
      owner.#streams.delete(streamId);
      this.#executor.transfer(streamId, this);
      if (owner.#streams.size === 0) owner.socket.terminate();
    } else return this.#refuse(streamId, "foreign_stream");
    this.#streams.add(streamId);
    return true;
  }

  #isSameHarness({ identity }: HarnessConnection): boolean {
    return (
      identity.tokenId === this.identity.tokenId && identity.harnessKeyHash === this.identity.harnessKeyHash
    );
  }

  #refuse(streamId: string, reason: "too_many_streams" | "foreign_stream"): false {
    this.#counters.refuse(reason);
    // If the harness does not read the answers, it is not read any further.
    this.socket.forward(encodeReset(streamId, reason), this.socket);
    return false;
  }
}
