import type { RpcError } from "./errors.ts";

/** Callbacks from a transport to its peer. */
export interface TransportReceiver {
  /** Receives one complete message. */
  text(message: string): void;
  /** Reports data that is not a message. The connection continues. */
  malformed(error: RpcError): void;
  /**
   * Reports the end of the connection. Called exactly once, last. Without a cause, the other side closed it normally.
   */
  closed(cause?: Error): void;
}

/** Carries complete messages in both directions. A transport owns its streams or socket and closes them. */
export interface Transport {
  /** Starts delivery. Nothing is delivered before this returns, so handlers set right afterwards miss nothing. */
  start(receiver: TransportReceiver): void;
  /**
   * Sends one message. Returns a promise only if the other side reads slowly: await it before sending more. Throws an
   * `RpcError` with code `queue_full` or `closed`.
   */
  send(message: string): Promise<void> | undefined;
  /**
   * Pauses delivery, which eventually blocks the other side. A few messages may still arrive. Absent if not
   * supported.
   */
  pause?(): void;
  /** Resumes delivery. */
  resume?(): void;
  /** Flushes buffered messages, then closes the connection. */
  close(): Promise<void>;
}
