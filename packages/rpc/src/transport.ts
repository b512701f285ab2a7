import type { RpcError } from "./errors.ts";

/** What a transport tells its peer. */
export interface TransportReceiver {
  /** One whole message, as text. */
  text(message: string): void;
  /** Something came that is not a message; the connection goes on. */
  malformed(error: RpcError): void;
  /** The connection is over; called exactly once, last. Without a cause the other side ended it in good order. */
  closed(cause?: Error): void;
}

/**
 * Carries whole messages both ways. A transport owns what it is built on: closing it closes that.
 */
export interface Transport {
  /** Begins delivery. Nothing is delivered before this returns, so handlers set right after are in time. */
  start(receiver: TransportReceiver): void;
  /**
   * Hands over one message. A promise comes back only when the other side reads slowly: await it before sending more.
   * Throws an RpcError `queue_full` or `closed`.
   */
  send(message: string): Promise<void> | undefined;
  /** Stops delivery: the other side soon can't send any more. A few messages may still come. Absent where not supported. */
  pause?(): void;
  /** Continues delivery. */
  resume?(): void;
  /** Sends what is still waiting, then ends the connection. */
  close(): Promise<void>;
}
