import { RpcError } from "./errors.ts";
import type { Transport, TransportReceiver } from "./transport.ts";

/**
 * Creates two connected in-memory transports. Messages are delivered in order and asynchronously, never during
 * `send`.
 */
export function memoryTransportPair(): [Transport, Transport] {
  const left = new MemoryEnd();
  const right = new MemoryEnd();
  left.join(right);
  right.join(left);
  return [left, right];
}

class MemoryEnd implements Transport {
  #other: MemoryEnd | undefined;
  #receiver: TransportReceiver | undefined;
  /** Messages to deliver. `undefined` marks the end of the other side. */
  readonly #inbox: (string | undefined)[] = [];
  #closed = false;

  join(other: MemoryEnd): void {
    this.#other = other;
  }

  start(receiver: TransportReceiver): void {
    this.#receiver = receiver;
    queueMicrotask(this.#closed ? () => receiver.closed() : () => this.#deliver());
  }

  send(message: string): undefined {
    if (this.#closed) throw new RpcError("closed", "The connection is closed.");
    this.#other?.accept(message);
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#end();
    this.#other?.accept(undefined);
    return Promise.resolve();
  }

  accept(message: string | undefined): void {
    this.#inbox.push(message);
    queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    if (!this.#receiver) return;
    for (const message of this.#inbox.splice(0)) {
      if (this.#closed) return;
      if (message === undefined) this.#end();
      else this.#receiver.text(message);
    }
  }

  #end(): void {
    this.#closed = true;
    this.#receiver?.closed();
  }
}
