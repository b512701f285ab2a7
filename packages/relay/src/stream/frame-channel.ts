/** Callbacks from a channel to its owner. */
export interface FrameReceiver {
  /** Receives one frame: one binary WebSocket message. The bytes belong to the receiver. */
  frame(bytes: Buffer): void;
  /** Reports the end of the channel. Called exactly once, last. Without a cause, the other side closed it normally. */
  closed(cause?: Error): void;
}

/**
 * One physical connection to a rendezvous, which carries the frames of one stream (at a harness) or of many (at an
 * executor).
 */
export interface FrameChannel {
  /** Starts delivery. Nothing is delivered before this returns. */
  start(receiver: FrameReceiver): void;
  /**
   * Sends a frame, or drops it if the channel has ended. Returns a promise only if the other side reads slowly: await it
   * before sending more. It never rejects. The bytes must not change afterwards.
   */
  send(frame: Uint8Array): Promise<void> | undefined;
  /** Bytes that were sent but have not left this process. */
  readonly bufferedBytes: number;
  /** Stops reading, which eventually blocks the other side. A few frames may still arrive. */
  pause(): void;
  resume(): void;
  /** Flushes, then closes the connection. */
  close(): Promise<void>;
}
