import { decodeFrame } from "../../frames/decode-frame.ts";
import type { ConnectionContext, ExecutorConnection } from "./executor-connection.ts";
import { encodeReset, type FrameHeader, readFrameHeader } from "./frame-header.ts";
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
  /** Frames that wait until the token may start another handshake. The socket is paused meanwhile. */
  readonly #waiting: Buffer[] = [];
  readonly #onFree = (): void => this.#receiveWaiting();

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
        this.#waiting.length = 0;
        usage.harnesses -= 1;
        executor.harnesses.delete(this);
        for (const streamId of this.#streams) executor.reset(streamId, "harness_disconnected");
        this.#streams.clear();
        executor.handshakes.cancel(identity.tokenId, this.#onFree);
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

  /** Ends a stream for the harness. */
  resetStream(streamId: string, reason: string): void {
    this.releaseStream(streamId);
    this.socket.forward(encodeReset(streamId, reason));
  }

  #receive(frame: Buffer): void {
    // Frames that had been read when the socket was paused.
    if (this.#waiting.length > 0) this.#waiting.push(frame);
    else this.#process(frame);
  }

  #receiveWaiting(): void {
    const frames = this.#waiting.splice(0);
    this.socket.resume();
    for (const frame of frames) this.#receive(frame);
  }

  #process(frame: Buffer): void {
    if (this.socket.isClosing) return;
    const header = readFrameHeader(frame);
    if (!header) return this.socket.reject("malformed_frame", 1002);
    const { streamId, isReset } = header;
    const executor = this.#executor;
    const isClaimed = this.#streams.has(streamId);
    if (!isClaimed && !this.#canClaim(streamId)) return;
    if (!executor.isAccepted(streamId)) {
      if (!this.#admit(frame, header)) return;
    } else if (header.isHandshake) return this.socket.reject("repeated_handshake", 1002);
    if (!isClaimed) this.#claim(streamId);
    const pauseMs = executor.usage.countBytes(frame.length);
    if (pauseMs > 0) this.socket.pauseFor(pauseMs);
    this.#counters.count("to_executor", frame.length);
    if (this.#filter)
      this.#filter(frame, "to_executor", (kept) => executor.socket.forward(kept, this.socket));
    else executor.socket.forward(frame, this.socket);
    if (isReset) this.releaseStream(streamId);
  }

  /** Whether a frame of a stream that the executor has not accepted may be forwarded now. */
  #admit(frame: Buffer, { streamId, isHandshake, isData }: FrameHeader): boolean {
    // The executor would count it as a failed handshake.
    if (!isDecodable(frame)) {
      this.socket.reject("malformed_frame", 1002);
      return false;
    }
    const { handshakes } = this.#executor;
    const { tokenId } = this.identity;
    const admission = handshakes.admit(streamId, tokenId, isHandshake || isData);
    if (admission === "refused") this.socket.reject("failed_handshakes", 1008);
    if (admission === "wait") {
      this.#waiting.push(frame);
      this.socket.pause();
      handshakes.onFree(tokenId, this.#onFree);
    }
    return admission === "admitted";
  }

  #canClaim(streamId: string): boolean {
    const owner = this.#executor.ownerOf(streamId);
    if (!owner) return this.#executor.usage.canAddStream || this.#refuse(streamId, "too_many_streams");
    return this.#isSameHarness(owner) || this.#refuse(streamId, "foreign_stream");
  }

  #claim(streamId: string): void {
    const owner = this.#executor.ownerOf(streamId);
    if (owner) {
      // The harness has reconnected before the end of its earlier connection was detected.
      owner.#streams.delete(streamId);
      this.#executor.transfer(streamId, this);
      if (owner.#streams.size === 0) owner.socket.terminate();
    } else this.#executor.claim(streamId, this);
    this.#streams.add(streamId);
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

function isDecodable(frame: Uint8Array): boolean {
  try {
    decodeFrame(frame);
    return true;
  } catch {
    return false;
  }
}
