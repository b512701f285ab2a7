import type { FrameChannel, FrameReceiver } from "../src/stream/frame-channel.ts";

/** Changes what passes from one end to the other: drops, copies, delays or alters frames. */
export type LinkFault = (frame: Buffer, deliver: (frame: Buffer) => void) => void;

const NO_FAULT: LinkFault = (frame, deliver) => deliver(frame);

/** One end of a connected pair of channels. Frames arrive one turn of the event loop later. */
export class MemoryChannel implements FrameChannel {
  readonly sent: Buffer[] = [];
  peer: MemoryChannel | undefined;
  fault: LinkFault = NO_FAULT;
  /** Whether `sent` records what passes. */
  isRecording = false;
  isPaused = false;
  isClosed = false;
  #receiver: FrameReceiver | undefined;
  readonly #waiting: Buffer[] = [];
  #isScheduled = false;
  #drained: Promise<void> | undefined;
  #onDrained: (() => void) | undefined;
  #cause: Error | undefined;

  /** The most bytes that ever waited for this end to read. */
  peakBytes = 0;

  start(receiver: FrameReceiver): void {
    this.#receiver = receiver;
    this.#schedule();
  }

  send(frame: Uint8Array): Promise<void> | undefined {
    const { peer } = this;
    if (this.isClosed || !peer) return undefined;
    const bytes = Buffer.from(frame);
    if (this.isRecording) this.sent.push(bytes);
    this.fault(bytes, (faulty) => peer.deliver(faulty));
    if (this.bufferedBytes <= 1024 * 1024) return undefined;
    this.#drained ??= new Promise((resolve) => {
      this.#onDrained = resolve;
    });
    return this.#drained;
  }

  /** Lets a frame arrive at this end. */
  deliver(frame: Buffer): void {
    if (this.isClosed) return;
    this.#waiting.push(frame);
    this.peakBytes = Math.max(this.peakBytes, this.waitingBytes);
    this.#schedule();
  }

  get waitingBytes(): number {
    return this.#waiting.reduce((sum, frame) => sum + frame.length, 0);
  }

  get bufferedBytes(): number {
    return this.peer?.waitingBytes ?? 0;
  }

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.#schedule();
  }

  async close(): Promise<void> {
    this.end();
    this.peer?.end();
  }

  /** Ends this end, as a broken connection does. */
  end(cause?: Error): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.#cause = cause;
    this.#relieve();
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || !this.#receiver) return;
    this.#isScheduled = true;
    setImmediate(() => this.#drain());
  }

  #drain(): void {
    this.#isScheduled = false;
    while (!this.isPaused && this.#waiting.length > 0) this.#receiver?.frame(this.#waiting.shift() as Buffer);
    if (this.peer && this.waitingBytes < 512 * 1024) this.peer.#relieve();
    if (!this.isClosed || this.#waiting.length > 0) return;
    const receiver = this.#receiver;
    this.#receiver = undefined;
    receiver?.closed(this.#cause);
  }

  #relieve(): void {
    this.#onDrained?.();
    this.#drained = undefined;
  }
}

/** Two connected channels. */
export function memoryChannelPair(): [MemoryChannel, MemoryChannel] {
  const pair: [MemoryChannel, MemoryChannel] = [new MemoryChannel(), new MemoryChannel()];
  [pair[0].peer, pair[1].peer] = [pair[1], pair[0]];
  return pair;
}
