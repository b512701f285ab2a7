import { RpcError } from "@codexkit/rpc";
import type { RelayLimits } from "../limits.ts";

/** Asks senders to wait while too much is unsent. */
export class SenderGate {
  #waiting: PromiseWithResolvers<void> | undefined;

  /** Undefined while senders need not wait. Never rejects. */
  get promise(): Promise<void> | undefined {
    return this.#waiting?.promise;
  }

  /** Closes the gate until `open`. */
  close(): void {
    this.#waiting ??= Promise.withResolvers();
  }

  /** Closes the gate until a slow connection has sent what it has. */
  closeUntil(drained: Promise<void> | undefined): void {
    if (!drained || this.#waiting) return;
    this.close();
    const waiting = this.#waiting;
    void drained.then(() => this.#waiting === waiting && this.open());
  }

  open(): void {
    this.#waiting?.resolve();
    this.#waiting = undefined;
  }
}

/** Throws `message_too_large` or `queue_full` unless a message may be sent. */
export function checkMessage(length: number, unsentBytes: number, limits: RelayLimits): void {
  const { messageBytes, bufferedBytes } = limits;
  if (length === 0 || length > messageBytes) {
    throw new RpcError(
      "message_too_large",
      `A message of ${length} bytes can't be sent; the limit is ${messageBytes} (messageBytes).`,
    );
  }
  if (unsentBytes > bufferedBytes) {
    throw new RpcError(
      "queue_full",
      `The other side is not reading: more than ${bufferedBytes} bytes are buffered (bufferedBytes).`,
    );
  }
}
